// SPDX-License-Identifier: Apache-2.0

#include "rpc/call/answer_place.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "transport/base/check.h"

namespace farcall {

void AnswerPlace::Set(Buffer memory) {
  for (const Buffer::Slice& slice : memory.slices()) {
    Check(slice.block->kind == MemoryKind::kHost, "attachments come to lie in host memory");
  }
  memory_ = std::move(memory);
}

Buffer AnswerPlace::Lend(const void* who, size_t size, size_t offset, size_t bytes) {
  if (size > memory_.size() || (holder_ != nullptr && holder_ != who)) return {};
  if (held() && held_for_ != who) return {};
  Check(offset <= size && bytes <= size - offset, "an attachment lands within its size");
  holder_ = who;
  return Part(offset, bytes);
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

Buffer AnswerPlace::Land(const Buffer& came, uint64_t& copied) {
  Check(came.size() <= memory_.size(), "what lands has room");
  Check(!held(), "no device writes to what is given back");
  Buffer place = Part(0, came.size());
  size_t index = 0;   // of the slice of `place` that is filled next
  uint32_t done = 0;  // bytes of it
  for (const Buffer::Slice& slice : came.slices()) {
    for (uint32_t taken = 0; taken < slice.length;) {
      const Buffer::Slice& to = place.slices()[index];
      const uint32_t part = std::min(slice.length - taken, to.length - done);
      char* const target = to.block->bytes() + to.offset + done;
      const char* const source = slice.view().data() + taken;
      if (source != target) {
        // The same memory shifted, if a peer in this process sent it: then they overlap.
        std::memmove(target, source, part);
        copied += part;
      }
      taken += part;
      done += part;
      if (done < to.length) continue;
      ++index;
      done = 0;
    }
  }
  return place;
}

Buffer AnswerPlace::Part(size_t offset, size_t bytes) const {
  Buffer part;
  for (const Buffer::Slice& slice : memory_.slices()) {
    if (bytes == 0) break;
    if (offset >= slice.length) {
      offset -= slice.length;
      continue;
    }
    const size_t length = std::min(bytes, slice.length - offset);
    part.Append(slice.block, slice.offset + static_cast<uint32_t>(offset),
                static_cast<uint32_t>(length));
    bytes -= length;
    offset = 0;
  }
  return part;
}

}  // namespace farcall
