// SPDX-License-Identifier: Apache-2.0
//
// Arrivals of an open loop: call i is due at start + i / rate, whether or not earlier
// calls have ended. A latency counts from there, so a server that stalls is charged for
// the calls that would have come meanwhile (the "coordinated omission" of closed loops).
//
// Pure: times go in, times come out. Threads: none; one schedule for each worker.

#ifndef FARCALL_BENCHMARKS_COMMON_OPEN_LOOP_SCHEDULE_H_
#define FARCALL_BENCHMARKS_COMMON_OPEN_LOOP_SCHEDULE_H_

#include <chrono>
#include <cstdint>

namespace farcall::bench {

class OpenLoopSchedule {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `rate` calls per second in all, > 0, dealt out in turn to `workers` (>= 1) schedules,
  // of which this is number `worker` (0 to workers - 1).
  OpenLoopSchedule(Time start, double rate, int worker = 0, int workers = 1);

  // When the next call is due.
  Time next() const { return next_; }
  bool Due(Time now) const { return now >= next_; }
  // Takes the next call: returns its due time, from which its latency counts.
  Time Take();
  // How many of those that were not taken are due before `end`.
  uint64_t Left(Time end) const;

 private:
  Time At(uint64_t arrival) const;

  const Time start_;
  const double period_ns_;  // between two calls of all workers
  const uint64_t worker_;
  const uint64_t workers_;
  uint64_t taken_ = 0;
  Time next_;
};

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_COMMON_OPEN_LOOP_SCHEDULE_H_
