// SPDX-License-Identifier: Apache-2.0

#include "examples/attachment/disk_report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/common/figures/number_text.h"

namespace example {
namespace {

using farcall::bench::CountText;
using farcall::bench::LatencyHistogram;
using farcall::bench::MicrosText;
using farcall::bench::NumberText;

// "814", "98.2k", "1.20M".
std::string Short(double number) {
  if (number >= 999'500) return NumberText(number / 1e6) + "M";
  if (number >= 999.5) return NumberText(number / 1e3) + "k";
  return absl::StrFormat("%.0f", number);
}

}  // namespace

std::string DiskReport(absl::string_view direction, size_t bytes_per_call, double seconds,
                       const farcall::bench::CallCounts& counts) {
  const LatencyHistogram& latency = counts.latency;
  const double iops = seconds > 0 ? static_cast<double>(latency.count()) / seconds : 0;
  const double bytes = iops * static_cast<double>(bytes_per_call);
  std::string text = absl::StrFormat("  %s: IOPS=%s, BW=%sMiB/s (%sMB/s), %s in %.2f s\n",
                                     direction, Short(iops), NumberText(bytes / (1 << 20)),
                                     NumberText(bytes / 1e6), CountText(latency.count()), seconds);
  absl::StrAppendFormat(
      &text, "    clat (us): min=%s, avg=%s, p50=%s, p99=%s, p99.9=%s, p99.99=%s, max=%s\n",
      MicrosText(latency.min()), NumberText(latency.mean_ns() / 1e3),
      MicrosText(latency.Quantile(0.5)), MicrosText(latency.Quantile(0.99)),
      MicrosText(latency.Quantile(0.999)), MicrosText(latency.Quantile(0.9999)),
      MicrosText(latency.max()));
  for (const auto& [code, failures] : counts.errors) {
    absl::StrAppend(&text, "    errors: ", CountText(failures.calls), " calls failed with ", code,
                    ", the first: ", failures.first_text, "\n");
  }
  return text;
}

}  // namespace example
