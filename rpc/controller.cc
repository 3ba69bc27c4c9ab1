// SPDX-License-Identifier: Apache-2.0

#include "rpc/controller.h"

#include <cerrno>
#include <mutex>
#include <utility>

namespace farcall {

absl::Status Controller::status() const { return ToStatus(error_code_, extras().error_text); }

void Controller::SetFailed(int code, absl::string_view text) {
  // 0 would read as success, and the caller reports a failure.
  error_code_ = code == 0 ? kInternal : code;
  extras_.Get().error_text = std::string(text);
}

std::string Controller::remote_side() const {
  return connection_ == nullptr ? "" : connection_->peer.ToString();
}

std::string Controller::local_side() const {
  return connection_ == nullptr ? "" : connection_->local.ToString();
}

const Controller::Extras& Controller::NoExtras() {
  static const Extras& none = *new Extras;
  return none;
}

void Controller::Reset() {
  ClearError();
  request_attachment_.Clear();
  response_attachment_.Clear();
  extras_.Clear();
  log_id_ = 0;
  timeout_ms_ = kNotSet;
  set_attempts(0, false);
  latency_us_ = 0;
  deadline_ = TimePoint::max();
  connection_ = nullptr;
  const std::lock_guard<SpinLock> lock(cancel_lock_);
  phase_ = Phase::kNew;
  canceled_ = 0;
  calls_ = nullptr;
}

CallId Controller::call_id() const {
  const std::lock_guard<SpinLock> lock(cancel_lock_);
  return CallId{Open()};
}

void Controller::StartCancel() {
  uint64_t call = 0;
  {
    const std::lock_guard<SpinLock> lock(cancel_lock_);
    call = Current();
  }
  StartCancel(CallId{call});
}

void Controller::StartCancel(CallId call) {
  std::shared_ptr<Cancellable> calls;
  uint64_t call_id = 0;
  {
    const std::lock_guard<SpinLock> lock(cancel_lock_);
    if (call != CallId{Open()}) return;
    canceled_ = Open();
    if (calls_ != nullptr) calls = calls_->shared_from_this();
    call_id = call_id_;
  }
  if (calls != nullptr) calls->Cancel(call_id);
}

bool Controller::Begin(Cancellable* calls, uint64_t call_id) {
  ClearError();
  response_attachment_.Clear();
  if (has_extras()) response_user_fields().Clear();
  set_attempts(0, false);
  const std::lock_guard<SpinLock> lock(cancel_lock_);
  phase_ = Phase::kUnderWay;
  if (canceled_ == ++begun_) return false;
  calls_ = calls;
  call_id_ = call_id;
  return true;
}

void Controller::End(int code, absl::string_view text, int64_t latency_us) {
  if (code != 0) SetFailed(code, text);
  latency_us_ = latency_us;
  if (has_response_memory()) extras_.Get().response_memory.Clear();  // of a call that never began
  const std::lock_guard<SpinLock> lock(cancel_lock_);
  phase_ = Phase::kEnded;
  calls_ = nullptr;
}

bool Controller::IsCanceled() const {
  const std::lock_guard<SpinLock> lock(cancel_lock_);
  return canceled_ == Current();
}

void Controller::NotifyOnCancel(google::protobuf::Closure* callback) {
  {
    const std::lock_guard<SpinLock> lock(cancel_lock_);
    if (canceled_ != Current() && !ended_) {
      std::swap(on_cancel_, callback);  // a second callback replaces the first, which is run
    }
  }
  if (callback != nullptr) callback->Run();
}

void Controller::NotifyCancel(bool closed) {
  google::protobuf::Closure* callback = nullptr;
  {
    const std::lock_guard<SpinLock> lock(cancel_lock_);
    if (closed) {
      canceled_ = Current();
    } else {
      ended_ = true;
    }
    callback = std::exchange(on_cancel_, nullptr);
  }
  if (callback != nullptr) callback->Run();
}

}  // namespace farcall
