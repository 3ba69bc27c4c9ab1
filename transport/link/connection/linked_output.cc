// SPDX-License-Identifier: Apache-2.0
//
// What a LinkedStream does for its SwitchingStream.

#include <utility>

#include "transport/link/connection/linked_stream.h"
#include "transport/why_not_rdma.h"

namespace farcall {

void LinkedStream::Send(LinkId link, Buffer&& frame) {
  if (link == kLifeline) return parts_.lifeline.Write(std::move(frame));
  if (Connection* const generation = generations_.Find(link)) generation->Write(std::move(frame));
}

size_t LinkedStream::Unsent(LinkId link) const {
  if (link == kLifeline) return parts_.lifeline.backlog();
  const Connection* const generation = generations_.Find(link);
  return generation == nullptr ? 0 : generation->backlog();
}

void LinkedStream::Deliver(Buffer&& bytes) {
  read_ += bytes.size();
  input_due_ = true;
  joiner_.Append(std::move(bytes), input_.slices().size(), input_);
}

void LinkedStream::GiveUp(LinkId generation, const absl::Status& why) {
  const absl::Status reason = NotRdma(ReasonOf(why), DetailOf(why));
  generations_.GiveUp(generation, reason);
  upgrader_->OnGivenUp(generation, reason);
}

void LinkedStream::ShutDownWriting() {
  shut_ = true;
  upgrader_->End();
  generations_.GiveUpAll(absl::CancelledError("the stream has ended"));
  parts_.lifeline.Close(absl::CancelledError("the stream has ended"), CloseMode::kFlush);
}

void LinkedStream::Ended(const absl::Status& why) {
  ended_ = true;
  end_why_ = why;
  upgrader_->End();
  generations_.GiveUpAll(absl::CancelledError("the stream has ended"));
  parts_.lifeline.Close(absl::CancelledError("the stream has ended"), CloseMode::kAbort);
}

}  // namespace farcall
