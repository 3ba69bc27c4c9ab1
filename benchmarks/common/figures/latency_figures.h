// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_BENCHMARKS_COMMON_FIGURES_LATENCY_FIGURES_H_
#define FARCALL_BENCHMARKS_COMMON_FIGURES_LATENCY_FIGURES_H_

#include <string>

#include "benchmarks/common/figures/json_object.h"
#include "benchmarks/common/figures/latency_histogram.h"

namespace farcall::bench {

// What reports tell of the latencies of a run. Microseconds; all 0 where no call was counted.
struct LatencyFigures {
  double mean_us = 0;
  double p50_us = 0;
  double p90_us = 0;
  double p99_us = 0;
  double p999_us = 0;
  double p9999_us = 0;
  double max_us = 0;

  static LatencyFigures From(const LatencyHistogram& latency);

  // "mean 171, p50 33.4, ... p99.99 10,781, max 11,087"
  std::string ToText() const;
  // Each by the name that it has here.
  void AddTo(JsonObject& json) const;
};

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_COMMON_FIGURES_LATENCY_FIGURES_H_
