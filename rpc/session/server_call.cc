// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/server_call.h"

#include <exception>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "rpc/session/answer_meta.h"
#include "rpc/session/send_frame.h"
#include "rpc/session/server_session.h"
#include "rpc/wire/payload.h"
#include "transport/base/check.h"

namespace farcall {

ServerCall::ServerCall(std::shared_ptr<ServerCore> core, std::shared_ptr<ServerSession> session,
                       ServiceMap::Found method, Frame& frame, TimePoint now)
    : core_(std::move(core)),
      session_(std::move(session)),
      method_(method),
      correlation_id_(frame.meta.correlation_id()),
      payload_(std::move(frame.payload)) {
  const wire::RpcRequestMeta& request = frame.meta.request();
  controller_.set_log_id(request.log_id());
  controller_.set_connection(session_->info());
  controller_.request_attachment() = std::move(frame.attachment);
  if (request.timeout_ms() > 0) {
    controller_.set_deadline(now + std::chrono::milliseconds(request.timeout_ms()));
  }
}

void ServerCall::Unref() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

void ServerCall::Run() {
  Ref();  // for this frame: the handler may run the closure and still use the call
  if (MayRun()) {
    CallHandler();
  } else {
    Finish();
  }
  core_->running.End();
  Unref();
}

// Whether there is a request to be handled; the call has failed if not.
bool ServerCall::MayRun() {
  if (controller_.deadline() < core_->parts.clock->Now()) {
    controller_.SetFailed(kRpcTimedOut, "the deadline passed before a handler thread was free");
    return false;
  }
  request_.reset(method_.service->GetRequestPrototype(method_.method).New());
  const absl::Status parsed = ParsePayload(payload_, *request_);
  payload_.Clear();
  if (!parsed.ok()) {
    controller_.SetFailed(kBadRequest, absl::StrCat("the request does not parse: ",
                                                    absl::string_view(parsed.message())));
    return false;
  }
  response_.reset(method_.service->GetResponsePrototype(method_.method).New());
  return true;
}

void ServerCall::CallHandler() {
  std::string what;
  try {
    method_.service->CallMethod(method_.method, &controller_, request_.get(), response_.get(),
                                &done_);
    return;
  } catch (const std::exception& error) {
    what = error.what();
  } catch (...) {
    what = "something that is no std::exception";
  }
  core_->parts.log(LogSeverity::kError,
                   absl::StrCat("the handler of ", method_.method->full_name(), " threw: ", what));
  if (finished_) return;
  controller_.SetFailed(kInternal, absl::StrCat("exception: ", what));
  Finish();
}

void ServerCall::Finish() {
  if (finished_.exchange(true)) {
    core_->parts.log(LogSeverity::kError,
                     absl::StrCat("the closure of ", method_.method->full_name(),
                                  " was run twice; the second time was ignored"));
    return;
  }
  // Run by a guard while an exception leaves the handler: that is no success.
  if (std::uncaught_exceptions() > 0 && !controller_.Failed()) {
    controller_.SetFailed(kInternal, "an exception left the handler before it had answered");
  }
  controller_.NotifyCancel(/*closed=*/false);
  Send();
  // Here rather than with the loop held, which may drop the last reference.
  request_ = nullptr;
  response_ = nullptr;
  // Last: who waits for the answers may then end what the call stands on.
  const std::shared_ptr<ServerCore> core = core_;
  Unref();  // the closure's
  core->unanswered.End();
}

void ServerCall::Send() {
  wire::RpcMeta& meta =
      AnswerMeta(correlation_id_, controller_.ErrorCode(), controller_.ErrorText());
  const google::protobuf::Message* const payload = controller_.Failed() ? nullptr : response_.get();
  Buffer attachment;
  if (payload != nullptr) attachment = std::move(controller_.response_attachment());
  const auto deliver = [session = session_, this](absl::string_view head, Buffer body) {
    session->Respond(*this, head, std::move(body));
  };
  EventLoop& loop = session_->loop();
  BlockPool& pool = *core_->parts.pool;
  Ref();  // for `deliver`, which unlists the call
  const auto encoder = FrameEncoder::Create(meta, payload, attachment.size());
  if (encoder.ok() && SendFrame(loop, pool, *encoder, attachment, deliver)) return;

  wire::RpcMeta& error =
      encoder.ok() ? AnswerMeta(correlation_id_, kOvercrowded,
                                "no blocks for the response (RuntimeOptions::pool.max_bytes)")
                   : AnswerMeta(correlation_id_, kBadResponse, encoder.status().message());
  Buffer none;
  const auto short_answer = FrameEncoder::Create(error, nullptr, 0);
  Check(short_answer.ok() && SendFrame(loop, pool, *short_answer, none, deliver),
        "an error without a message fits a small frame");
}

}  // namespace farcall
