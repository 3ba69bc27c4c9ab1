// SPDX-License-Identifier: Apache-2.0
//
// A load from begin to end: warmed up, measured, over several connections.

#ifndef FARCALL_BENCHMARKS_COMMON_LOAD_RUN_H_
#define FARCALL_BENCHMARKS_COMMON_LOAD_RUN_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "benchmarks/common/call_load.h"
#include "benchmarks/common/figures/call_tally.h"

namespace farcall::bench {

struct LoadPlan {
  using Seconds = std::chrono::duration<double>;

  // Each has slots and, in an open loop, a thread of its own: as many as there are connections.
  int loads = 1;
  // Calls under way at most, dealt out to the loads; each has one at least.
  int slots = 1;
  double rate = 0;    // calls per second over all loads (open loop); 0: closed loop
  Seconds warmup{0};  // not measured
  Seconds measured{1};
  int kinds = 1;  // of calls, counted apart
  // Makes a slot of a load (0 to loads - 1), whose calls are recorded in the tally of their kind
  // (0 to kinds - 1).
  std::function<std::unique_ptr<CallLoad::Slot>(int load, std::span<CallTally> tallies)> make;
  // May be null: what ended since the last time, of all kinds, each second that is measured; with
  // how long the measuring goes on, and how long it was since the last time.
  std::function<void(Seconds at, Seconds since, const CallCounts&)> each_second;
  // May be null: ends the load before its time.
  const std::atomic<bool>* stop = nullptr;
};

struct LoadOutcome {
  LoadPlan::Seconds measured{0};  // up to the end of the last call
  std::vector<CallCounts> kinds;  // what ended in that time
  // Calls that were due and were not begun, as too many were under way (open loop); 0 if the load
  // was stopped before its time.
  uint64_t not_begun = 0;
};

// Returns when the last call has ended.
LoadOutcome RunLoad(const LoadPlan& plan);

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_COMMON_LOAD_RUN_H_
