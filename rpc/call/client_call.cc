// SPDX-License-Identifier: Apache-2.0

#include "rpc/call/client_call.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "rpc/wire/payload.h"

namespace farcall {

ClientCall::ClientCall(Controller& controller, google::protobuf::Message* response,
                       google::protobuf::Closure* done, const Clock& clock)
    : controller_(controller),
      response_(response),
      done_(done),
      clock_(clock),
      started_(clock.Now()) {}

void ClientCall::Fail(int code, absl::string_view text) {
  error_code_ = code;
  error_text_ = std::string(text);
}

void ClientCall::Answer(Frame& frame) {
  const wire::RpcMeta& meta = frame.meta;
  if (meta.response().error_code() != 0) {
    return Fail(meta.response().error_code(), meta.response().error_text());
  }
  if (meta.compress_type() != wire::COMPRESS_NONE) {
    return Fail(kBadResponse, absl::StrCat("the response is compressed (type ",
                                           meta.compress_type(), "), which was not asked for"));
  }
  if (meta.content_type() != wire::CONTENT_PROTOBUF) {
    return Fail(kBadResponse, absl::StrCat("the response is no protobuf (content_type ",
                                           meta.content_type(), ")"));
  }
  payload_ = std::move(frame.payload);
  attachment_ = std::move(frame.attachment);
}

void ClientCall::Complete(EventLoop& loop) {
  if (!synchronous()) return loop.RunUser(*this);
  // Under the lock to the end: the caller destroys the call as soon as it may go on.
  std::lock_guard<std::mutex> lock(mutex_);
  complete_ = true;
  completed_.notify_one();
}

void ClientCall::Wait() {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    completed_.wait(lock, [this] { return complete_; });
  }
  End();
}

void ClientCall::Run() {
  google::protobuf::Closure* const done = done_;
  End();
  delete this;
  done->Run();
}

void ClientCall::End() {
  if (error_code_ == 0 && response_ != nullptr) {
    const absl::Status parsed = ParsePayload(payload_, *response_);
    if (!parsed.ok()) {
      Fail(kBadResponse,
           absl::StrCat("the response does not parse: ", absl::string_view(parsed.message())));
    }
  }
  if (error_code_ == 0) controller_.response_attachment() = std::move(attachment_);
  controller_.set_connection(std::move(connection_));
  const Duration taken = clock_.Now() - started_;
  controller_.End(error_code_, error_text_,
                  std::chrono::duration_cast<std::chrono::microseconds>(taken).count());
}

}  // namespace farcall
