// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/common/figures/latency_figures.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "benchmarks/common/figures/number_text.h"

namespace farcall::bench {
namespace {

double Micros(std::chrono::nanoseconds time) { return static_cast<double>(time.count()) / 1e3; }

}  // namespace

LatencyFigures LatencyFigures::From(const LatencyHistogram& latency) {
  LatencyFigures figures;
  figures.mean_us = latency.mean_ns() / 1e3;
  figures.p50_us = Micros(latency.Quantile(0.5));
  figures.p90_us = Micros(latency.Quantile(0.9));
  figures.p99_us = Micros(latency.Quantile(0.99));
  figures.p999_us = Micros(latency.Quantile(0.999));
  figures.p9999_us = Micros(latency.Quantile(0.9999));
  figures.max_us = Micros(latency.max());
  return figures;
}

std::string LatencyFigures::ToText() const {
  return absl::StrCat("mean ", NumberText(mean_us), ", p50 ", NumberText(p50_us), ", p90 ",
                      NumberText(p90_us), ", p99 ", NumberText(p99_us), ", p99.9 ",
                      NumberText(p999_us), ", p99.99 ", NumberText(p9999_us), ", max ",
                      NumberText(max_us));
}

void LatencyFigures::AddTo(JsonObject& json) const {
  json.AddNumber("mean_us", mean_us);
  json.AddNumber("p50_us", p50_us);
  json.AddNumber("p90_us", p90_us);
  json.AddNumber("p99_us", p99_us);
  json.AddNumber("p999_us", p999_us);
  json.AddNumber("p9999_us", p9999_us);
  json.AddNumber("max_us", max_us);
}

}  // namespace farcall::bench
