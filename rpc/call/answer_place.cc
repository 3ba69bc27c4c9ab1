// SPDX-License-Identifier: Apache-2.0

#include "rpc/call/answer_place.h"

#include "transport/base/check.h"

namespace farcall {

Buffer AnswerPlace::Lend(const void* who, size_t size, size_t offset, size_t bytes) {
  if (size > memory_.size() || (holder_ != nullptr && holder_ != who)) return {};
  if (held() && held_for_ != who) return {};
  Check(offset <= size && bytes <= size - offset, "an attachment lands within its size");
  holder_ = who;
  return memory_.Part(offset, bytes);
}

void AnswerPlace::TakeBack(const void* who) {
  if (holder_ == who) holder_ = nullptr;
}

void AnswerPlace::Hold() {
  Check(holder_ != nullptr, "what is held was lent");
  held_for_ = holder_;
  ++holds_;
}

void AnswerPlace::Drop() {
  Check(held(), "what is dropped was held");
  --holds_;
}

Buffer AnswerPlace::Gather(const Buffer& came, uint64_t& copied) {
  Check(!held(), "no device writes to what is given back");
  return memory_.Gather(came, copied);
}

}  // namespace farcall
