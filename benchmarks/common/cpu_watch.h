// SPDX-License-Identifier: Apache-2.0
//
// Reads the CPU time of both sides where the measured window begins and where it ends.

#ifndef FARCALL_BENCHMARKS_COMMON_CPU_WATCH_H_
#define FARCALL_BENCHMARKS_COMMON_CPU_WATCH_H_

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "benchmarks/common/cpu_usage.h"
#include "benchmarks/common/load_recorder.h"
#include "benchmarks/common/load_report.h"

namespace farcall::bench {

struct CpuReadings {
  CpuSample client_first;
  CpuSample client_last;
  CpuSample server_first;
  CpuSample server_last;

  void WriteTo(LoadReport& report) const;
};

// Sleeps until the window begins, reads, sleeps until it ends, reads. `ask_server` asks the
// server for its reading, beside the load; its first error ends the watch. Blocks.
absl::StatusOr<CpuReadings> WatchCpu(const LoadWindow& window,
                                     absl::FunctionRef<absl::StatusOr<CpuSample>()> ask_server);

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_COMMON_CPU_WATCH_H_
