// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/common/open_loop_schedule.h"

namespace farcall::bench {

OpenLoopSchedule::OpenLoopSchedule(Time start, double rate, int worker, int workers)
    : start_(start),
      period_ns_(1e9 / rate),
      worker_(static_cast<uint64_t>(worker)),
      workers_(static_cast<uint64_t>(workers)),
      next_(At(0)) {}

// From the number of the arrival and never from the last one, so that nothing adds up.
OpenLoopSchedule::Time OpenLoopSchedule::At(uint64_t arrival) const {
  const double offset = static_cast<double>(arrival * workers_ + worker_) * period_ns_;
  return start_ + std::chrono::nanoseconds(static_cast<int64_t>(offset));
}

OpenLoopSchedule::Time OpenLoopSchedule::Take() {
  const Time due = next_;
  next_ = At(++taken_);
  return due;
}

}  // namespace farcall::bench
