// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/server/server_call.h"

#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "rpc/exception_text.h"
#include "rpc/interceptor.h"
#include "rpc/session/server/server_session.h"

namespace farcall {

ServerCall::ServerCall(ServerSession& session, const Admission& admission)
    : session_(session.self()),
      core_(session.core().get()),
      admission_(admission),
      arrival_(session.loop().now()) {
  keeps_drive = core_->handlers == nullptr;
  if (core_->handlers != nullptr) watched = this;
  controller_.set_connection(session.info());
  if (session.auth_context() != nullptr) controller_.set_auth_context(session.auth_context());
}

void ServerCall::Unref(int count) {
  if (references_.fetch_sub(count, std::memory_order_acq_rel) == count) Dispose();
}

template <typename Code>
std::optional<std::string> ServerCall::Guarded(absl::string_view whose, Code&& code) {
  std::optional<std::string> thrown = ExceptionTextOf(std::forward<Code>(code));
  if (thrown) {
    core_->parts.log(LogSeverity::kError,
                     absl::StrCat(whose, " of ", method().full_name(), " threw: ", *thrown));
  }
  return thrown;
}

void ServerCall::OnLong() {
  // Before its method goes to the handler threads: each that begins there counts this one.
  counted_ = true;
  core_->handlers->BeginElsewhere();
  MethodState& state = *admission_.method.state;
  // Read first, as it is counted after `ended`: so it is never the larger number.
  const uint64_t not_run = state.not_run.load(std::memory_order_acquire);
  state.pace.OnLong(state.stats.counts().ended - not_run);
  core_->counters.long_handlers.fetch_add(1, std::memory_order_relaxed);
}

// As on a handler thread: who waits in a synchronous call counts no more, since what it waits for
// may wait for a place among the handlers itself. Once OnLong is not called any more.
void ServerCall::EndCount() {
  if (std::exchange(counted_, false)) core_->handlers->EndElsewhere();
}

void ServerCall::EndWatched() {
  EndWatch();
  EndCount();
}

bool ServerCall::SubmitToPool(HandlerPool::Calling calling) {
  ServerCore& core = *core_;
  const google::protobuf::MethodDescriptor& name = method();
  on_pool_ = true;
  const std::optional<size_t> waiting = core.handlers->Submit(*this, calling);
  if (waiting) {
    core.LogWaiting(name, *waiting);
    return true;
  }
  on_pool_ = false;
  return false;
}

bool ServerCall::MoreWait() const { return on_pool_ && core_->handlers->waiting() > 0; }

void ServerCall::Run() {
  if (!on_pool_ && BelongsOnPool()) {
    // Since it was queued the method has turned out to be slow. The call may be over before this
    // has returned, and then nothing else holds the pool.
    const std::shared_ptr<ServerCore> core = session_->core();
    const size_t part = session_->loop_index();
    core->running.Begin(part);
    EndWatched();
    const bool gone = SubmitToPool(HandlerPool::Calling::kNow);
    core->running.End(part);
    if (gone) return;
    // The system gives no thread: it runs here.
    BeginWatch(*this);
  }
  if (Claim()) {
    if (on_pool_) {
      RunOnPool();
    } else {
      RunNow();
    }
  } else {
    GiveMemoryBack(absl::CancelledError("the request was answered before its handler ran"));
  }
  if (!on_pool_ && watched != nullptr) EndWatched();
  // The core stands as long as somebody waits for what runs: not the call.
  core_->running.End(session_->loop_index());
  Unref();
}

void ServerCall::RunOnPool() {
  if (core_->options.handlers_on_pool) return RunNow();
  const TimePoint began = core_->parts.clock->Now();
  RunNow();
  if (!ran_) return;
  admission_.method.state->pace.OnPoolCall(core_->parts.clock->Now() - began);
}

void ServerCall::RunNow() {
  if (MayRun()) {
    // Calls of other methods have no memory for their request.
    if (admission_.method.state->placer != nullptr) GiveMemoryBack(absl::OkStatus());
    CallHandler();
  } else {
    GiveMemoryBack(controller_.status());
    Finish();
  }
}

void ServerCall::Refuse(int code, absl::string_view text) {
  controller_.SetFailed(code, text);
  Finish();
}

// Whether there is a request to be handled; the call has failed if not.
bool ServerCall::MayRun() {
  // GiveUp.
  if (controller_.Failed()) return false;
  // Stop refuses what waits, but finds only what belongs to a connection that is open.
  if (core_->calls_over.load()) {
    controller_.SetFailed(kLogoff, "the server is stopping");
    return false;
  }
  if (controller_.deadline() != TimePoint::max() &&
      controller_.deadline() < core_->parts.clock->Now()) {
    core_->counters.late.fetch_add(1, std::memory_order_relaxed);
    controller_.SetFailed(kRpcTimedOut, "the deadline passed before a handler thread was free");
    return false;
  }
  messages_ = TakeMessages();
  const absl::Status parsed = ParseRequest(*messages_->request);
  if (!parsed.ok()) {
    FailUnparsed(parsed);
    return false;
  }
  return core_->options.interceptors.empty() || AskInterceptors();
}

void ServerCall::FailUnparsed(const absl::Status& why) {
  const bool full = absl::IsResourceExhausted(why);
  controller_.SetFailed(
      full ? kOvercrowded : kBadRequest,
      absl::StrCat(full ? "the request cannot be unpacked now: " : "the request does not parse: ",
                   absl::string_view(why.message())));
}

std::unique_ptr<CallMessages> ServerCall::TakeMessages() {
  return admission_.method.state->messages.Take([this] { return MakeMessages(); });
}

CallMessages ServerCall::MakeMessages() const {
  const google::protobuf::Service& service = *admission_.method.service;
  CallMessages made;
  made.request.reset(service.GetRequestPrototype(&method()).New());
  made.response.reset(service.GetResponsePrototype(&method()).New());
  return made;
}

bool ServerCall::AskInterceptors() {
  for (const auto& interceptor : core_->options.interceptors) {
    ++intercepted_;
    bool go_on = false;
    const std::optional<std::string> thrown = Guarded("an interceptor", [&] {
      go_on = interceptor->OnRequest(method(), controller_, *messages_->request);
    });
    if (go_on) continue;
    if (thrown) {
      controller_.SetFailed(kInternal, absl::StrCat("exception: ", *thrown));
    } else if (!controller_.Failed()) {
      controller_.SetFailed(kInternal, "an interceptor refused the request and did not say why");
    }
    return false;
  }
  return true;
}

void ServerCall::CallHandler() {
  ran_ = true;
  const std::optional<std::string> thrown = Guarded("the handler", [&] {
    admission_.method.service->CallMethod(&method(), &controller_, messages_->request.get(),
                                          messages_->response.get(), &done_);
  });
  if (!thrown || finished_) return;
  controller_.SetFailed(kInternal, absl::StrCat("exception: ", *thrown));
  Finish();
}

void ServerCall::Finish() {
  if (finished_.exchange(true)) {
    core_->parts.log(LogSeverity::kError,
                     absl::StrCat("the closure of ", method().full_name(),
                                  " was run twice; the second time was ignored"));
    return;
  }
  // Run by a guard while an exception leaves the handler: that is no success.
  if (std::uncaught_exceptions() > 0 && !controller_.Failed()) {
    controller_.SetFailed(kInternal, "an exception left the handler before it had answered");
  }
  NotifyCancel(/*closed=*/false);
  if (intercepted_ > 0) NotifyInterceptors();
  SendAnswer(controller_.Failed() ? nullptr : messages_->response.get());
  // Here rather than with the loop held, which may drop the last reference.
  GiveMessagesBack();
  // Last: who waits for the answers may then end what the call stands on.
  const std::shared_ptr<ServerCore> core = session_->core();
  const size_t part = session_->loop_index();
  Unref();  // the closure's
  core->unanswered.End(part);
}

void ServerCall::NotifyCancel(bool closed) {
  static_cast<void>(
      Guarded("a callback of NotifyOnCancel", [&] { controller_.NotifyCancel(closed); }));
}

void ServerCall::GiveMessagesBack() {
  if (messages_ == nullptr) return;
  admission_.method.state->messages.Give(std::move(messages_), request_bytes_, response_bytes_);
}

void ServerCall::NotifyInterceptors() {
  while (intercepted_ > 0) {
    --intercepted_;
    const std::optional<std::string> thrown = Guarded("an interceptor", [&] {
      const google::protobuf::Message* const response =
          controller_.Failed() ? nullptr : messages_->response.get();
      core_->options.interceptors[intercepted_]->OnAnswer(method(), controller_, response);
    });
    if (thrown && !controller_.Failed()) {
      controller_.SetFailed(kInternal, absl::StrCat("exception: ", *thrown));
    }
  }
}

TimePoint ServerCall::Count(int code) {
  const TimePoint now = core_->parts.clock->Now();
  const Duration latency = now - arrival_;
  MethodState& state = *admission_.method.state;
  core_->sampler.OnCall(now);
  state.stats.OnEnd(code, latency);
  if (!ran_) state.not_run.fetch_add(1, std::memory_order_release);
  if (ran_ || code == kRpcTimedOut) {
    state.limit.End(admission_.at_method, code, latency, now);
    core_->limit.End(admission_.at_server, code, latency, now);
  } else {
    // It tells nothing of what the handlers bear.
    state.limit.Revoke(admission_.at_method);
    core_->limit.Revoke(admission_.at_server);
  }
  return now;
}

}  // namespace farcall
