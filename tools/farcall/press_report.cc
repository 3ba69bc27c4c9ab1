// SPDX-License-Identifier: Apache-2.0

#include "tools/farcall/press_report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/common/figures/json_object.h"
#include "benchmarks/common/figures/latency_figures.h"
#include "benchmarks/common/figures/number_text.h"
#include "rpc/errors.h"

namespace farcall::cli {
namespace {

using bench::CallCounts;
using bench::CountText;
using bench::LatencyFigures;
using bench::MicrosText;
using bench::NumberText;

// In an open loop: the share of the load asked for below which it was not reached.
constexpr double kReached = 0.95;

std::string NameOf(int code) {
  return code == CallCounts::kOther ? "other codes" : ErrorName(code);
}

std::string ErrorsInARow(const CallCounts& counts) {
  std::string text;
  for (const auto& [code, failures] : counts.errors) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", CountText(failures.calls), " ", NameOf(code));
  }
  return text.empty() ? "0" : text;
}

}  // namespace

std::string PressHead() {
  return absl::StrFormat("%7s %11s %10s %10s %10s %10s\n%7s %11s %10s %10s %10s %10s  %s\n", "", "",
                         "p50", "p99", "p99.9", "max", "time", "calls/s", "us", "us", "us", "us",
                         "errors");
}

std::string PressRow(double at_seconds, double seconds, const CallCounts& counts) {
  const bench::LatencyHistogram& latency = counts.latency;
  const double rate = seconds > 0 ? static_cast<double>(latency.count()) / seconds : 0;
  return absl::StrFormat("%5.0f s %11s %10s %10s %10s %10s  %s\n", at_seconds, NumberText(rate),
                         MicrosText(latency.Quantile(0.5)), MicrosText(latency.Quantile(0.99)),
                         MicrosText(latency.Quantile(0.999)), MicrosText(latency.max()),
                         ErrorsInARow(counts));
}

double PressSummary::qps() const {
  return seconds > 0 ? static_cast<double>(counts.latency.count()) / seconds : 0;
}

std::string PressSummary::ToText() const {
  const bench::LatencyHistogram& latency = counts.latency;
  const uint64_t failed = counts.failed();
  std::string text = absl::StrFormat("%s: %s calls in %.1f s, %s calls/s, %s failed\n", method,
                                     CountText(latency.count() + failed), seconds,
                                     NumberText(qps()), CountText(failed));
  absl::StrAppend(&text, "carried     ", carrier, "\n");
  absl::StrAppendFormat(&text, "load        %s, %d connection%s\n",
                        qps_asked > 0
                            ? absl::StrFormat("%s calls/s asked for, at most %d under way",
                                              NumberText(qps_asked), concurrency)
                            : absl::StrFormat("%d calls under way", concurrency),
                        connections, connections == 1 ? "" : "s");
  absl::StrAppend(&text, "latency us  ", LatencyFigures::From(latency).ToText(), "\n");
  if (not_begun > 0) {
    absl::StrAppend(&text, "not begun   ", CountText(not_begun),
                    " calls that were due were not begun; no latency counts them\n");
  }
  for (const auto& [code, failures] : counts.errors) {
    absl::StrAppend(&text, "errors      ", CountText(failures.calls), " ", NameOf(code), " (", code,
                    "), the first: ", failures.first_text, "\n");
  }
  // Calls that fail carry the load, too; where all do, there are other things to look at.
  const double ended = static_cast<double>(latency.count() + failed) / seconds;
  if (latency.count() > 0 && ended < kReached * qps_asked) {
    absl::StrAppend(&text,
                    "The load asked for was not reached; latencies count from when each call was "
                    "due.\nMore --concurrency, --connections or --threads may help, if the server "
                    "is not the limit.\n");
  }
  return text;
}

std::string PressSummary::ToJson() const {
  const bench::LatencyHistogram& latency = counts.latency;
  bench::JsonObject json;
  json.AddText("target", target);
  json.AddText("method", method);
  json.AddText("carrier", carrier);
  json.AddInteger("concurrency", concurrency);
  json.AddInteger("connections", connections);
  json.AddNumber("qps_asked", qps_asked);
  json.AddNumber("seconds", seconds);
  json.AddInteger("calls", static_cast<int64_t>(latency.count()));
  json.AddInteger("failed", static_cast<int64_t>(counts.failed()));
  json.AddInteger("not_begun", static_cast<int64_t>(not_begun));
  json.AddNumber("qps", qps());
  LatencyFigures::From(latency).AddTo(json);
  bench::JsonObject errors;
  for (const auto& [code, failures] : counts.errors) {
    bench::JsonObject error;
    error.AddText("name", NameOf(code));
    error.AddInteger("calls", static_cast<int64_t>(failures.calls));
    error.AddText("first", failures.first_text);
    errors.AddObject(absl::StrCat(code), error);
  }
  json.AddObject("errors", errors);
  return json.ToString();
}

}  // namespace farcall::cli
