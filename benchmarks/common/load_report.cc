// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/common/load_report.h"

#include <cerrno>
#include <chrono>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/common/figures/json_object.h"

namespace farcall::bench {
namespace {

double PerCall(const CpuSample& first, const CpuSample& last, double qps) {
  return qps > 0 ? BusyCores(first, last) / qps * 1e6 : 0;
}

}  // namespace

LoadReport LoadReport::From(const LoadOptions& options, const LoadRecorder& seen) {
  const LatencyHistogram& latency = seen.latency();
  const std::chrono::duration<double> window = seen.window().end - seen.window().begin;
  LoadReport report;
  report.polling = options.polling;
  report.payload = options.payload;
  report.attachment = options.attachment;
  report.in_flight = options.in_flight;
  report.connections = options.connections;
  report.threads = options.threads;
  report.rate = options.rate;
  report.seconds = window.count();
  report.calls = latency.count();
  report.errors = seen.errors();
  report.first_error = seen.first_error();
  report.qps = static_cast<double>(latency.count()) / window.count();
  report.latency = LatencyFigures::From(latency);
  report.mb_per_s = report.qps * static_cast<double>(options.bytes_per_call()) / 1e6;
  return report;
}

void LoadReport::SetClientCpu(const CpuSample& first, const CpuSample& last) {
  client_cpu_us = PerCall(first, last, qps);
}

void LoadReport::SetServerCpu(const CpuSample& first, const CpuSample& last) {
  server_cpu_us = PerCall(first, last, qps);
}

std::string LoadReport::ToJson() const {
  JsonObject json;
  json.AddText("system", system);
  json.AddText("transport", transport);
  json.AddText("why_not_rdma", why_not_rdma);
  json.AddText("polling", polling);
  json.AddInteger("payload", static_cast<int64_t>(payload));
  json.AddInteger("attachment", static_cast<int64_t>(attachment));
  json.AddInteger("in_flight", in_flight);
  json.AddInteger("connections", connections);
  json.AddInteger("threads", threads);
  json.AddNumber("rate", rate);
  json.AddNumber("seconds", seconds);
  json.AddInteger("calls", static_cast<int64_t>(calls));
  json.AddInteger("errors", static_cast<int64_t>(errors));
  json.AddText("first_error", first_error);
  json.AddNumber("qps", qps);
  latency.AddTo(json);
  json.AddNumber("mb_per_s", mb_per_s);
  if (bulk_mb_per_s > 0) json.AddNumber("bulk_mb_per_s", bulk_mb_per_s);
  json.AddNumber("client_cpu_us", client_cpu_us);
  json.AddNumber("server_cpu_us", server_cpu_us);
  return json.ToString();
}

std::string LoadReport::ToText() const {
  std::string text = absl::StrFormat(
      "%s over %s (%s), %d B + %d B, %d in flight x %d: %.0f calls/s, p50 %.1f us, p99 %.1f us, "
      "p99.9 %.1f us, %.1f MB/s, CPU us per call: client %.2f, server %.2f",
      system, transport, polling, payload, attachment, in_flight, connections, qps, latency.p50_us,
      latency.p99_us, latency.p999_us, mb_per_s, client_cpu_us, server_cpu_us);
  if (bulk_mb_per_s > 0) {
    absl::StrAppendFormat(&text, "; beside it %.1f MB/s", bulk_mb_per_s);
  }
  if (errors != 0) {
    absl::StrAppend(&text, ", ", errors, " errors, the first: ", first_error);
  }
  if (!why_not_rdma.empty()) {
    absl::StrAppend(&text, "; not rdma: ", why_not_rdma);
  }
  return text;
}

absl::Status PrintReport(const LoadReport& report, const std::string& json) {
  if (json == "-") {
    std::printf("%s\n", report.ToJson().c_str());
    return absl::OkStatus();
  }
  std::printf("%s\n", report.ToText().c_str());
  if (json.empty()) {
    return absl::OkStatus();
  }
  std::FILE* file = std::fopen(json.c_str(), "w");
  if (file == nullptr) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", json));
  }
  const bool written = std::fprintf(file, "%s\n", report.ToJson().c_str()) > 0;
  if (std::fclose(file) != 0 || !written) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot write all of ", json));
  }
  return absl::OkStatus();
}

}  // namespace farcall::bench
