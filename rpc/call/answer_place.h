// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CALL_ANSWER_PLACE_H_
#define FARCALL_RPC_CALL_ANSWER_PLACE_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "rpc/call/attachment_memory.h"
#include "transport/buffer/buffer.h"

namespace farcall {

// The memory that a caller set for the attachment of an answer. At most one attempt of the call
// has it at a time: of two answers that come at once, each would spoil the other's bytes. Pure.
class AnswerPlace {
 public:
  // Empty: none is set, and the attachment stays where it came.
  void Set(Buffer memory) { memory_ = AttachmentMemory(std::move(memory)); }
  bool is_set() const { return !memory_.empty(); }
  size_t size() const { return memory_.size(); }

  // Memory for [offset, offset + bytes) of an attachment of `size` bytes, for the attempt `who`,
  // which has it from now on. Empty: it does not fit, or another attempt has it.
  Buffer Lend(const void* who, size_t size, size_t offset, size_t bytes);
  // `who` ended; nothing is lent to it any more.
  void TakeBack(const void* who);
  // A device may write to what was lent last, even after TakeBack, until Drop was called as
  // often as Hold. Before that neither another attempt nor the caller gets the memory.
  void Hold();
  void Drop();
  bool held() const { return holds_ > 0; }

  // The attachment that came, which fits, at its place: what lies there already is not touched,
  // the rest is copied, and counted in `copied`. No attempt runs any more.
  Buffer Gather(const Buffer& came, uint64_t& copied);

 private:
  AttachmentMemory memory_;
  const void* holder_ = nullptr;
  const void* held_for_ = nullptr;  // holds_ > 0: the attempt
  int holds_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_RPC_CALL_ANSWER_PLACE_H_
