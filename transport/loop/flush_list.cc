// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/flush_list.h"

#include <utility>

namespace farcall {

void FlushList::Queue(Flushable& output) {
  output.flush_slot = outputs_.size();
  outputs_.push_back(&output);
}

void FlushList::Remove(Flushable& output) {
  if (output.flush_slot == Flushable::kNotQueued) return;
  outputs_[output.flush_slot] = nullptr;
  output.flush_slot = Flushable::kNotQueued;
}

void FlushList::FlushAll() {
  for (int round = 0; round < kRounds && !outputs_.empty(); ++round) {
    const size_t count = outputs_.size();
    for (size_t i = 0; i < count; ++i) {
      Flushable* const output = std::exchange(outputs_[i], nullptr);
      if (output == nullptr) continue;
      output->flush_slot = Flushable::kNotQueued;
      output->Flush();
    }
    // What these added moves to the front.
    outputs_.erase(outputs_.begin(), outputs_.begin() + static_cast<std::ptrdiff_t>(count));
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (outputs_[i] != nullptr) outputs_[i]->flush_slot = i;
    }
  }
}

}  // namespace farcall
