// SPDX-License-Identifier: Apache-2.0
//
// CPU time of a whole process, as opposed to the time that passed meanwhile.

#ifndef FARCALL_BENCHMARKS_COMMON_CPU_USAGE_H_
#define FARCALL_BENCHMARKS_COMMON_CPU_USAGE_H_

namespace farcall::bench {

// User and system time of all threads since the process began, getrusage(2). Any thread.
double ProcessCpuSeconds();

// One reading. A server sends both numbers, so that how long a reading is under way
// between the processes does not matter.
struct CpuSample {
  double cpu_seconds = 0;    // ProcessCpuSeconds() of that process
  double clock_seconds = 0;  // that machine's monotonic clock at the reading

  // Of this process. Any thread.
  static CpuSample Now();
};

// How many cores the process kept busy between two readings; 0 if no time passed.
double BusyCores(const CpuSample& first, const CpuSample& last);

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_COMMON_CPU_USAGE_H_
