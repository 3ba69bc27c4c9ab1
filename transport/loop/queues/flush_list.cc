// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/queues/flush_list.h"

#include <algorithm>
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

// To the front, where it will be the first of the next time.
size_t FlushList::KeepLast() {
  while (!outputs_.empty() && outputs_.back() == nullptr) outputs_.pop_back();
  if (outputs_.size() < 2) return 0;
  std::rotate(outputs_.begin(), outputs_.end() - 1, outputs_.end());
  Renumber(0);
  return 1;
}

void FlushList::Renumber(size_t from) {
  for (size_t i = from; i < outputs_.size(); ++i) {
    if (outputs_[i] != nullptr) outputs_[i]->flush_slot = i;
  }
}

void FlushList::FlushAll(bool but_last) {
  const size_t kept = but_last ? KeepLast() : 0;
  for (int round = 0; round < kRounds && outputs_.size() > kept; ++round) {
    const size_t count = outputs_.size();
    for (size_t i = kept; i < count; ++i) {
      Flushable* const output = std::exchange(outputs_[i], nullptr);
      if (output == nullptr) continue;
      output->flush_slot = Flushable::kNotQueued;
      output->Flush();
    }
    // What these added moves to the front.
    outputs_.erase(outputs_.begin() + static_cast<std::ptrdiff_t>(kept),
                   outputs_.begin() + static_cast<std::ptrdiff_t>(count));
    Renumber(kept);
  }
}

}  // namespace farcall
