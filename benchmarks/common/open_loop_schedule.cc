// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/common/open_loop_schedule.h"

#include <algorithm>

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

uint64_t OpenLoopSchedule::Left(Time end) const {
  const double all =
      static_cast<double>((end - start_).count()) / (period_ns_ * static_cast<double>(workers_));
  uint64_t number = std::max(taken_, static_cast<uint64_t>(std::max(all, 0.0)));
  // What was rounded.
  while (At(number) < end) ++number;
  while (number > taken_ && At(number - 1) >= end) --number;
  return number - taken_;
}

}  // namespace farcall::bench
