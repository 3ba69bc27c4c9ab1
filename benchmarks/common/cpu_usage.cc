// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/common/cpu_usage.h"

#include <sys/resource.h>
#include <sys/time.h>

#include <chrono>

namespace farcall::bench {
namespace {

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

double ProcessCpuSeconds() {
  rusage usage{};
  // It fails only for a wrong `who` or a bad pointer.
  getrusage(RUSAGE_SELF, &usage);
  return Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
}

CpuSample CpuSample::Now() {
  const std::chrono::duration<double> clock = std::chrono::steady_clock::now().time_since_epoch();
  return {ProcessCpuSeconds(), clock.count()};
}

double BusyCores(const CpuSample& first, const CpuSample& last) {
  const double passed = last.clock_seconds - first.clock_seconds;
  return passed > 0 ? (last.cpu_seconds - first.cpu_seconds) / passed : 0;
}

}  // namespace farcall::bench
