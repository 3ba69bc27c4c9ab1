// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BASE_CLOCK_H_
#define FARCALL_TRANSPORT_BASE_CLOCK_H_

#include <atomic>

#include "transport/base/time.h"

namespace farcall {

// CLOCK_MONOTONIC.
class SteadyClock final : public Clock {
 public:
  TimePoint Now() const override { return std::chrono::steady_clock::now(); }
};

// Moves only when it is advanced: for tests and simulations.
class ManualClock final : public Clock {
 public:
  TimePoint Now() const override { return TimePoint(Duration(nanoseconds_.load())); }
  void Advance(Duration by) { nanoseconds_ += by.count(); }
  // To `when`, or nowhere if that is past.
  void AdvanceTo(TimePoint when) {
    if (when > Now()) nanoseconds_ = when.time_since_epoch().count();
  }

 private:
  std::atomic<Duration::rep> nanoseconds_{1'000'000'000};
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_CLOCK_H_
