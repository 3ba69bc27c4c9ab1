// SPDX-License-Identifier: Apache-2.0
//
// What a LinkedStream does for its SwitchingStream.

#include <string>
#include <utility>

#include "transport/link/connection/linked_stream.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

// A quarter of the block that most is read into.
constexpr size_t kCopyBelow = size_t{16} << 10;
// Pieces that may wait as they came: those of one turn are taken at once, as a rule.
constexpr size_t kPieces = 32;

}  // namespace

void LinkedStream::Send(LinkId link, Buffer frame) {
  if (link == kLifeline) return parts_.lifeline.Write(std::move(frame));
  if (Connection* const generation = generations_.Find(link)) generation->Write(std::move(frame));
}

size_t LinkedStream::Unsent(LinkId link) const {
  if (link == kLifeline) return parts_.lifeline.backlog();
  const Connection* const generation = generations_.Find(link);
  return generation == nullptr ? 0 : generation->backlog();
}

void LinkedStream::Deliver(Buffer bytes) {
  read_ += bytes.size();
  news_ = true;
  // The window counts bytes of the stream, and what waits here must not take much more than
  // those: a payload in place keeps the whole block in which it came, with its header and all
  // that is no stream. The heap, where the pool is at its limit.
  if (input_.slices().size() >= kPieces && bytes.size() < kCopyBelow) {
    const std::string copy = bytes.ToString();
    if (!compact_.Append(copy, input_)) input_.Append(copy);
    return;
  }
  input_.Append(std::move(bytes));
}

void LinkedStream::PauseReading(LinkId generation) {
  if (Connection* const found = generations_.Find(generation)) found->PauseRead();
}

void LinkedStream::ResumeReading(LinkId generation) {
  if (Connection* const found = generations_.Find(generation)) found->ResumeRead();
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
