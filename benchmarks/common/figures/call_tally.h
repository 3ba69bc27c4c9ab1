// SPDX-License-Identifier: Apache-2.0
//
// What became of many calls, for tables that are printed while they go on.

#ifndef FARCALL_BENCHMARKS_COMMON_FIGURES_CALL_TALLY_H_
#define FARCALL_BENCHMARKS_COMMON_FIGURES_CALL_TALLY_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "absl/strings/string_view.h"
#include "benchmarks/common/figures/latency_histogram.h"

namespace farcall::bench {

struct CallCounts {
  struct Failures {
    uint64_t calls = 0;
    std::string first_text;
  };
  // A service may answer with any number; beyond so many different ones they count as kOther.
  static constexpr size_t kMaxCodes = 32;
  static constexpr int kOther = -1;

  void Fail(int code, absl::string_view text);
  void Merge(const CallCounts& other);
  uint64_t failed() const;

  LatencyHistogram latency;        // of calls that succeeded
  std::map<int, Failures> errors;  // by error code
};

// Any thread.
class CallTally {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // A call that ended now. `begun`: when it was to begin. `code` 0: it succeeded.
  void Record(Time begun, Time ended, int code, absl::string_view text);
  // What was recorded since the last time.
  CallCounts Take();

 private:
  std::mutex mutex_;
  CallCounts counts_;  // guarded by mutex_
};

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_COMMON_FIGURES_CALL_TALLY_H_
