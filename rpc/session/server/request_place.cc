// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/server/request_place.h"

#include <utility>

#include "transport/base/check.h"

namespace farcall {

void RequestPlace::Answer(Buffer memory) {
  Check(asked_, "a service that was asked answers once");
  Check(memory.empty() || memory.size() >= attachment_, "an attachment has room in its place");
  asked_ = false;
  memory_ = AttachmentMemory(std::move(memory));
}

void RequestPlace::Came() {
  if (!failed_) whole_ = true;
}

void RequestPlace::Fail(bool answer_comes) {
  if (due_) return;
  failed_ = true;
  if (!answer_comes) asked_ = false;
}

Buffer RequestPlace::Lend(size_t offset, size_t bytes) const {
  if (failed_ || whole_ || memory_.empty()) return {};
  Check(offset <= attachment_ && bytes <= attachment_ - offset,
        "an attachment lands within its size");
  return memory_.Part(offset, bytes);
}

void RequestPlace::Hold() {
  Check(!memory_.empty() && !due_, "what is held was lent");
  ++holds_;
}

void RequestPlace::Drop() {
  Check(holds_ > 0, "what is dropped was held");
  --holds_;
}

size_t RequestPlace::Lying(const Buffer& input, size_t head) const {
  return failed_ || memory_.empty() ? 0 : memory_.Lying(input, head);
}

bool RequestPlace::TakeDue() {
  if (due_ || asked_ || holds_ > 0 || !(whole_ || failed_)) return false;
  due_ = true;
  return true;
}

Buffer RequestPlace::Gather(Buffer came, uint64_t& copied) {
  Check(due_ && !failed_, "what lands is all there");
  if (memory_.empty()) return came;
  Buffer landed = memory_.Gather(came, copied);
  Clear();
  return landed;
}

}  // namespace farcall
