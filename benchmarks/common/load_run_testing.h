// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_BENCHMARKS_COMMON_LOAD_RUN_TESTING_H_
#define FARCALL_BENCHMARKS_COMMON_LOAD_RUN_TESTING_H_

#include "absl/status/statusor.h"
#include "benchmarks/common/load_options.h"
#include "benchmarks/common/load_report.h"

namespace farcall::bench {

// A report with what a test wants to see, made by run(options). On a busy machine a call may take
// longer than a window, however often that is tried: so each window is twice as long as the one
// before, up to ten seconds.
template <typename Run, typename Seen>
absl::StatusOr<LoadReport> RunUntil(LoadOptions options, const Run& run, const Seen& seen) {
  constexpr double kLongest = 10;  // seconds
  absl::StatusOr<LoadReport> report = run(options);
  while (report.ok() && report->errors == 0 && !seen(*report) && 2 * options.seconds <= kLongest) {
    options.seconds *= 2;
    report = run(options);
  }
  return report;
}

template <typename Run>
absl::StatusOr<LoadReport> RunUntilACallEnds(const LoadOptions& options, const Run& run) {
  return RunUntil(options, run, [](const LoadReport& report) { return report.calls > 0; });
}

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_COMMON_LOAD_RUN_TESTING_H_
