// SPDX-License-Identifier: Apache-2.0

#include "rpc/call/client_call.h"

#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rpc/exception_text.h"
#include "rpc/wire/payload.h"

namespace farcall {
namespace {

// More cost too much on the loop, where each is looked for among the others.
constexpr int kMaxUserFields = 256;

}  // namespace

bool ClientCall::AskEach(const google::protobuf::Message& request) {
  for (const std::shared_ptr<ClientInterceptor>& one : environment_->interceptors) {
    ++asked_;
    bool go_on = false;
    const bool threw = FailIfThrows([&] { go_on = one->OnCall(method_, controller_, request); });
    if (go_on) continue;
    // A refusal without a word is one all the same.
    if (!threw && !controller_.Failed()) {
      controller_.SetFailed(kRejected, "refused by an interceptor");
    }
    return false;
  }
  if (controller_.has_response_memory()) extras_.Get().place.Set(controller_.TakeResponseMemory());
  return true;
}

template <typename Code>
bool ClientCall::FailIfThrows(Code&& code) {
  const std::optional<std::string> thrown = ExceptionTextOf(std::forward<Code>(code));
  if (!thrown) return false;
  const std::string text =
      absl::StrCat("a client interceptor of ", method_.full_name(), " threw: ", *thrown);
  if (environment_->log) environment_->log(LogSeverity::kError, text);
  // Why a call failed before stays.
  if (!controller_.Failed()) controller_.SetFailed(kInternal, text);
  return true;
}

void ClientCall::Fail(int code, absl::string_view text) {
  error_code_ = code;
  extras_.Get().error_text = std::string(text);
}

void ClientCall::Answer(Frame& frame) {
  if (!frame.plain && !TakeFields(frame.meta)) return;
  if (frame.meta.response().error_code() != 0) return TakeError(frame.meta.response());
  error_code_ = 0;
  TakePayload(frame);
  if (!frame.attachment.empty()) extras_.Get().attachment = std::move(frame.attachment);
}

// What few answers have. False: too much of it, and the call has failed.
bool ClientCall::TakeFields(const wire::RpcMeta& meta) {
  if (meta.user_fields_size() > kMaxUserFields) {
    Fail(kBadResponse, absl::StrCat("the response has ", meta.user_fields_size(),
                                    " user_fields, over the limit, ", kMaxUserFields));
    return false;
  }
  for (const wire::UserField& field : meta.user_fields()) {
    extras_.Get().user_fields.Set(field.key(), field.value());
  }
  return true;
}

void ClientCall::TakeError(const wire::RpcResponseMeta& response) {
  Fail(response.error_code(), response.error_text());
}

// What is small is copied: that costs less than to share its block with another thread, and leaves
// the block to what comes next.
void ClientCall::TakePayload(Frame& frame) {
  const bool plain = frame.plain && frame.meta.compress_type() == COMPRESS_TYPE_NONE;
  if (plain && frame.held) [[likely]] {
    std::memcpy(memory_, frame.in_place.data(), frame.in_place.size());
    small_payload_ = frame.in_place.size();
    return;
  }
  extras_.Get().payload_info = PayloadInfo::Of(frame.meta);
  extras_.Get().payload = frame.TakePayload();
}

std::shared_ptr<void> ClientCall::HoldPlace() {
  extras_.Get().place.Hold();
  return {this, [](ClientCall* call) { call->OnPlaceDropped(); }};
}

void ClientCall::OnPlaceDropped() {
  place()->Drop();
  if (!place()->held() && complete_on_ != nullptr) Complete(*complete_on_);
}

void ClientCall::Complete(EventLoop& loop) {
  complete_on_ = &loop;
  if (extras_.made() && place()->held()) return;
  if (!synchronous()) return loop.RunUser(*this);
  caller_.Done(loop);
}

void ClientCall::Wait(EventLoop& loop) {
  caller_.Wait(loop);
  End();
}

void ClientCall::Run() {
  google::protobuf::Closure* const done = done_;
  End();
  Dispose();
  done->Run();
}

// Most responses. False: ParseOrFail parses it.
bool ClientCall::ParseSmall() {
  if (!small_payload_) return false;
  return TryParsePayload(absl::string_view(memory_, *small_payload_), *response_);
}

absl::Status ClientCall::ParseResponse() {
  if (small_payload_) return ParsePayload(absl::string_view(memory_, *small_payload_), *response_);
  const Extras& came = extras_.Get();
  return Unpack(came.payload_info, came.payload, came.attachment, environment_->max_body_size,
                *environment_->pool, *response_);
}

// Others. False: the call has failed.
bool ClientCall::ParseOrFail() {
  const absl::Status unpacked = ParseResponse();
  if (unpacked.ok()) return true;
  const bool full = absl::IsResourceExhausted(unpacked);
  Fail(full ? kOvercrowded : kBadResponse,
       absl::StrCat(
           full ? "the response came and cannot be unpacked: " : "the response does not parse: ",
           absl::string_view(unpacked.message())));
  return false;
}

void ClientCall::TakeResponse() {
  if (response_ != nullptr && !ParseSmall() && !ParseOrFail()) return;
  if (extras_.made()) TakeExtras();
}

void ClientCall::TakeExtras() {
  Extras& came = extras_.Get();
  if (came.place.is_set()) LandAttachment(came);
  if (!came.attachment.empty()) controller_.response_attachment() = std::move(came.attachment);
}

// With its checksum verified where it came, so that what is copied is sound.
void ClientCall::LandAttachment(Extras& came) {
  if (came.attachment.size() > came.place.size()) {
    Fail(kBadResponse, absl::StrCat("the response's attachment has ", came.attachment.size(),
                                    " bytes, and the memory set for it only ", came.place.size()));
    return came.attachment.Clear();
  }
  uint64_t copied = 0;
  came.attachment = came.place.Gather(came.attachment, copied);
  if (copied > 0 && environment_->copied != nullptr) {
    environment_->copied->Add(CopyCause::kNotLanded, copied);
  }
}

void ClientCall::End() {
  if (error_code_ == 0) TakeResponse();
  // It has none of an earlier call.
  if (extras_.made() && !extras_.Get().user_fields.empty()) {
    controller_.response_user_fields() = std::move(extras_.Get().user_fields);
  }
  controller_.set_connection(std::move(connection_));
  controller_.set_attempts(retried_, backup_);
  const Duration taken = environment_->clock->Now() - started_;
  absl::string_view text;
  if (error_code_ != 0) text = extras_.Get().error_text;
  controller_.End(error_code_, text,
                  std::chrono::duration_cast<std::chrono::microseconds>(taken).count());
  if (asked_ > 0) NotifyInterceptors();
}

void ClientCall::NotifyInterceptors() {
  while (asked_ > 0) {
    ClientInterceptor& one = *environment_->interceptors[--asked_];
    const google::protobuf::Message* const response = controller_.Failed() ? nullptr : response_;
    FailIfThrows([&] { one.OnEnd(method_, controller_, response); });
  }
}

}  // namespace farcall
