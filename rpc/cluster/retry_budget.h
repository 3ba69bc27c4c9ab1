// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CLUSTER_RETRY_BUDGET_H_
#define FARCALL_RPC_CLUSTER_RETRY_BUDGET_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "transport/base/time.h"

namespace farcall {

// How many retries a channel may send: `ratio` of the calls of the last ten seconds, and
// kFreePerSecond besides, so that a channel with few calls can retry them. Pure; one thread at
// a time, and time does not go back.
class RetryBudget {
 public:
  static constexpr int64_t kFreePerSecond = 10;
  static constexpr int64_t kSeconds = 10;

  // `ratio` >= 0.
  explicit RetryBudget(double ratio) : ratio_(ratio) {}

  // A call begins; its retries do not count.
  void OnCall(TimePoint now) {
    if (now >= slot_ends_) Advance(now);
    ++slots_[slot_].calls;
    ++calls_;
  }
  // One retry or backup request may go out. False: not now.
  bool Take(TimePoint now);
  // What the last Take gave, at the same time, does not go out.
  void GiveBack();

 private:
  // Whole seconds from the first call.
  struct Slot {
    int64_t calls = 0;
    int64_t retries = 0;  // without the free ones
  };
  void Advance(TimePoint now);

  const double ratio_;
  std::array<Slot, kSeconds> slots_{};
  size_t slot_ = 0;  // of this second
  TimePoint slot_ends_ = TimePoint::min();
  int64_t calls_ = 0;  // of all slots
  int64_t retries_ = 0;
  int64_t free_taken_ = 0;  // this second
};

}  // namespace farcall

#endif  // FARCALL_RPC_CLUSTER_RETRY_BUDGET_H_
