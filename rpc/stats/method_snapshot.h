// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_STATS_METHOD_SNAPSHOT_H_
#define FARCALL_RPC_STATS_METHOD_SNAPSHOT_H_

#include <cstdint>

#include "rpc/stats/error_class.h"
#include "rpc/stats/latency_buckets.h"
#include "transport/base/time.h"

namespace farcall {

// What was counted since the beginning. Sums and differences of snapshots are snapshots.
struct MethodSnapshot {
  uint64_t started = 0;
  ErrorCounts ended{};      // calls that were started, by their outcome
  ErrorCounts refused{};    // calls that were not started: over a limit, stopping
  uint64_t latency_ns = 0;  // of all that ended together
  LatencyBuckets::Counts latencies{};

  uint64_t ended_count() const;
  uint64_t refused_count() const;
  // Ended or refused, with an error.
  uint64_t errors() const;
  uint64_t in_flight() const;

  MethodSnapshot& operator+=(const MethodSnapshot& other);
  // What happened since `earlier`, a snapshot of the same.
  MethodSnapshot Since(const MethodSnapshot& earlier) const;
};

// The same without what takes room.
struct MethodCounts {
  uint64_t started = 0;
  uint64_t ended = 0;
  uint64_t errors = 0;
  uint64_t refused = 0;
  uint64_t latency_ns = 0;
};

struct MethodRates {
  MethodSnapshot total;
  double qps = 0;  // of the last second or two: calls that ended or were refused
  double errors_per_second = 0;
  MethodSnapshot recent;      // of the last minute or so
  double recent_seconds = 0;  // how long that is
};

// One of the moments that follow each other.
struct CallMoment {
  TimePoint end;
  double seconds = 0;
  MethodCounts counts;  // since the moment before
};

}  // namespace farcall

#endif  // FARCALL_RPC_STATS_METHOD_SNAPSHOT_H_
