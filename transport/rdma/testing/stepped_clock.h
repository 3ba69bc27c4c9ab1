// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_STEPPED_CLOCK_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_STEPPED_CLOCK_H_

#include <atomic>
#include <chrono>

#include "transport/base/time.h"

namespace farcall {

// Moves only when it is advanced, but for destructors, which wait and cannot say for
// what: while it runs, each look at it takes a millisecond. Any thread.
//
// It begins ten years from the kernel's zero. What a loop arms before it sleeps is no time that has
// passed there: each of those would be an interrupt, and many thousands were half of a run.
class SteppedClock final : public Clock {
 public:
  TimePoint Now() const override {
    if (runs_) nanoseconds_ += 1'000'000;
    return TimePoint(Duration(nanoseconds_.load()));
  }
  void AdvanceTo(TimePoint when) {
    if (when > Now()) nanoseconds_ = when.time_since_epoch().count();
  }
  void SetRunning(bool runs) { runs_ = runs; }

 private:
  mutable std::atomic<Duration::rep> nanoseconds_{Duration(std::chrono::hours(87'600)).count()};
  std::atomic<bool> runs_{false};
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_STEPPED_CLOCK_H_
