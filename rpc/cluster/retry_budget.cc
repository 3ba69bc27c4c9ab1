// SPDX-License-Identifier: Apache-2.0

#include "rpc/cluster/retry_budget.h"

namespace farcall {
namespace {

constexpr Duration kSlot = std::chrono::seconds(1);

}  // namespace

// Into the slot of `now`; those between are empty, and what is ten seconds old is forgotten.
void RetryBudget::Advance(TimePoint now) {
  free_taken_ = 0;
  if (slot_ends_ == TimePoint::min() || now - slot_ends_ >= kSeconds * kSlot) {
    slots_.fill({});
    calls_ = retries_ = 0;
    slot_ends_ = now + kSlot;
    return;
  }
  while (now >= slot_ends_) {
    slot_ = (slot_ + 1) % slots_.size();
    calls_ -= slots_[slot_].calls;
    retries_ -= slots_[slot_].retries;
    slots_[slot_] = {};
    slot_ends_ += kSlot;
  }
}

bool RetryBudget::Take(TimePoint now) {
  if (now >= slot_ends_) Advance(now);
  if (free_taken_ < kFreePerSecond) {
    ++free_taken_;
    return true;
  }
  if (static_cast<double>(retries_ + 1) > ratio_ * static_cast<double>(calls_)) return false;
  ++slots_[slot_].retries;
  ++retries_;
  return true;
}

void RetryBudget::GiveBack() {
  // The free ones of a second are the first to go.
  if (slots_[slot_].retries == 0) {
    --free_taken_;
    return;
  }
  --slots_[slot_].retries;
  --retries_;
}

}  // namespace farcall
