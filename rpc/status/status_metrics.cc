// SPDX-License-Identifier: Apache-2.0

#include "rpc/status/status_metrics.h"

#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "prometheus/text_serializer.h"
#include "rpc/status/metric_families.h"
#include "rpc/status/rdma_metrics.h"

namespace farcall {
namespace {

using Labels = MetricFamilies::Labels;

// Bounds of the histogram: from 2 us to 17 s, each twice the one before. Exact, since they are
// bounds of LatencyBuckets.
constexpr Duration kFirstBound = std::chrono::nanoseconds(2048);
constexpr int kBounds = 24;

double Seconds(Duration duration) { return static_cast<double>(duration.count()) / 1e9; }

Labels LabelsOf(const MethodStatus& method) {
  return {{"service", method.service}, {"method", method.method}};
}

Labels With(Labels labels, std::string name, absl::string_view value) {
  labels.push_back({std::move(name), std::string(value)});
  return labels;
}

prometheus::ClientMetric::Histogram HistogramOf(const MethodSnapshot& total) {
  prometheus::ClientMetric::Histogram histogram;
  histogram.sample_count = LatencyBuckets::Total(total.latencies);
  histogram.sample_sum = static_cast<double>(total.latency_ns) / 1e9;
  uint64_t below = 0;
  size_t next = 0;
  for (int i = 0; i < kBounds; ++i) {
    const Duration bound = kFirstBound * (1 << i);
    for (const size_t end = LatencyBuckets::Of(bound); next < end; ++next) {
      below += total.latencies[next];
    }
    histogram.bucket.push_back({below, Seconds(bound)});
  }
  return histogram;
}

void AddCalls(const std::vector<MethodStatus>& methods, MetricFamilies& families) {
  families.Counter("farcall_server_calls_total",
                   "Calls that ended or were refused, by the name of their error code.");
  for (const MethodStatus& method : methods) {
    const MethodSnapshot& total = method.rates.total;
    for (size_t i = 0; i < kErrorClasses; ++i) {
      const uint64_t count = total.ended[i] + total.refused[i];
      // Successes also while there are none, so that a rate can be taken from the first on.
      if (count == 0 && i != 0) continue;
      families.Add(static_cast<double>(count), With(LabelsOf(method), "code", ErrorClassName(i)));
    }
  }
  families.Histogram("farcall_server_call_duration_seconds",
                     "Time from a request's arrival to its answer.");
  for (const MethodStatus& method : methods) {
    families.Add(HistogramOf(method.rates.total), LabelsOf(method));
  }
  families.Gauge("farcall_server_calls_in_flight", "Calls that were admitted and not answered.");
  for (const MethodStatus& method : methods) {
    families.Add(static_cast<double>(method.rates.total.in_flight()), LabelsOf(method));
  }
  families.Gauge("farcall_server_method_concurrency_limit",
                 "Calls of a method that may be under way at once, where there is a limit.");
  for (const MethodStatus& method : methods) {
    if (method.limit.now != 0) families.Add(method.limit.now, LabelsOf(method));
  }
}

void AddServer(const ServerStatus& status, MetricFamilies& families) {
  families.Gauge("farcall_build_info", "1; the version is in the label.");
  families.Add(1, {{"version", status.version}});
  families.OneGauge("farcall_server_uptime_seconds", "Time since the server started.",
                    status.uptime_seconds);
  families.OneGauge("farcall_server_stopping", "1 while the server stops, else 0.",
                    status.stopping ? 1 : 0);
  families.OneGauge("farcall_server_handlers_running",
                    "Requests whose handler runs or waits for a thread.", status.running);
  families.OneGauge("farcall_server_handler_threads",
                    "Threads for slow handlers, at most; 0: none.", status.handler_threads);
  families.OneGauge("farcall_server_handlers_waiting", "Requests that wait for a handler thread.",
                    status.waiting);
  families.OneCounter("farcall_server_handlers_long_total",
                      "Handlers that ran for long where their requests were read.",
                      status.counters.long_handlers);
  if (status.limit.now != 0) {
    families.OneGauge("farcall_server_concurrency_limit",
                      "Calls of all methods that may be under way at once.", status.limit.now);
  }
  const CountersStatus& counters = status.counters;
  families.Counter("farcall_server_requests_refused_total",
                   "Requests that were answered with an error without being run.");
  for (const auto& [reason, count] :
       {std::pair("logoff", counters.refused_logoff), std::pair("limit", counters.refused_limit),
        std::pair("not_found", counters.not_found), std::pair("auth_failed", counters.auth_failed),
        std::pair("late", counters.late)}) {
    families.Add(static_cast<double>(count), {{"reason", reason}});
  }
}

void AddConnections(const ServerStatus& status, MetricFamilies& families) {
  families.Gauge("farcall_server_connections", "Open connections by what carries them.");
  const ConnectionsStatus& open = status.connections;
  families.Add(static_cast<double>(open.tcp), {{"transport", "tcp"}});
  families.Add(static_cast<double>(open.rdma), {{"transport", "rdma"}});
  if (open.other != 0) families.Add(static_cast<double>(open.other), {{"transport", "other"}});
  const CountersStatus& counters = status.counters;
  families.OneCounter("farcall_server_connections_accepted_total", "Connections that came.",
                      counters.accepted);
  families.Counter("farcall_server_connections_cut_total",
                   "Connections that the server closed for what the peer did.");
  for (const auto& [reason, count] :
       {std::pair("over_limit", counters.over_max_connections),
        std::pair("timed_out", counters.timed_out), std::pair("bad_peer", counters.bad_peers)}) {
    families.Add(static_cast<double>(count), {{"reason", reason}});
  }
}

void AddMachine(const ServerStatus& status, MetricFamilies& families) {
  const BlockPoolStats& pool = status.pool;
  families.OneGauge("farcall_pool_mapped_bytes", "Memory of the block pool.", pool.region_bytes);
  families.OneGauge("farcall_pool_used_bytes", "Of it, in blocks in use.", pool.used_bytes);
  families.OneGauge("farcall_pool_limit_bytes", "What it may grow to.", pool.max_bytes);
  families.OneCounter("farcall_pool_allocations_total", "Blocks taken.", pool.allocations);
  families.OneCounter("farcall_pool_exhausted_total", "Times that a block was wanted in vain.",
                      pool.exhausted);
  families.OneGauge("farcall_loops", "Event loops.", status.loops.size());
  families.OneCounter("farcall_loops_taken_over_total",
                      "Times that a spare thread drove past user code that ran for long.",
                      status.runtime.loops_taken_over);
  families.OneCounter("farcall_loops_held_up_total",
                      "Times that user code ran for long and no spare thread was left.",
                      status.runtime.loops_held_up);
  families.Counter("farcall_loop_turns_total", "Turns of each event loop.");
  for (size_t i = 0; i < status.loops.size(); ++i) {
    if (!status.loops[i].answered) continue;
    families.Add(static_cast<double>(status.loops[i].turns), {{"loop", absl::StrCat(i)}});
  }
  families.Counter("farcall_loop_sleeps_total", "Times that each event loop went to sleep.");
  for (size_t i = 0; i < status.loops.size(); ++i) {
    if (!status.loops[i].answered) continue;
    families.Add(static_cast<double>(status.loops[i].sleeps), {{"loop", absl::StrCat(i)}});
  }
}

// The names that all of Prometheus's own libraries use.
void AddProcess(const ProcessStatus& process, MetricFamilies& families) {
  families.OneCounter("process_cpu_seconds_total", "User and system time.", process.cpu_seconds);
  families.OneGauge("process_resident_memory_bytes", "Resident memory.", process.resident_bytes);
  families.OneGauge("process_virtual_memory_bytes", "Virtual memory.", process.virtual_bytes);
  families.OneGauge("process_open_fds", "Open file descriptors.", process.open_fds);
  families.OneGauge("process_max_fds", "How many file descriptors may be open.", process.max_fds);
  families.OneGauge("process_threads", "Threads of the process.", process.threads);
  families.OneGauge("process_start_time_seconds", "Start of the process, seconds since 1970.",
                    process.start_unix_seconds);
  if (process.memlock_bytes != ProcessStatus::kUnlimited) {
    families.OneGauge("farcall_process_memlock_limit_bytes",
                      "How much memory may be locked, where there is a limit.",
                      process.memlock_bytes);
  }
  families.OneGauge("farcall_process_pinned_bytes", "Memory that drivers hold locked.",
                    process.pinned_bytes);
}

}  // namespace

std::vector<prometheus::MetricFamily> StatusMetrics(const ServerStatus& status) {
  MetricFamilies families;
  AddServer(status, families);
  AddCalls(status.methods, families);
  AddConnections(status, families);
  AddRdmaMetrics(status.runtime, families);
  AddMachine(status, families);
  AddProcess(status.process, families);
  return families.Take();
}

std::string MetricsText(const ServerStatus& status) {
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, StatusMetrics(status));
  return std::move(out).str();
}

}  // namespace farcall
