// SPDX-License-Identifier: Apache-2.0

#include "rpc/status/status_json.h"

#include <algorithm>

#include "rpc/status/json_writer.h"

namespace farcall {
namespace {

constexpr int kFormat = 1;

double Microseconds(Duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

double Mean(uint64_t sum_ns, uint64_t count) {
  return count == 0 ? 0 : static_cast<double>(sum_ns) / static_cast<double>(count) / 1000;
}

// Counters that are all zero but for a few.
template <typename Counts, typename NameOf>
void WriteNonZero(const Counts& counts, NameOf name_of, JsonWriter& json) {
  json.BeginObject();
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] != 0) json.Field(name_of(i), counts[i]);
  }
  json.EndObject();
}

void WriteLimit(const LimitStatus& limit, JsonWriter& json) {
  json.Key("limit");
  limit.now == 0 ? json.Null() : json.Value(limit.now);
  json.Field("limit_auto", limit.automatic);
}

void WriteLatency(const MethodSnapshot& recent, double seconds, JsonWriter& json) {
  const uint64_t count = LatencyBuckets::Total(recent.latencies);
  json.Key("latency");
  json.BeginObject();
  json.Field("window_s", seconds);
  json.Field("calls", count);
  json.Field("mean_us", Mean(recent.latency_ns, count));
  const auto quantile = [&](const char* name, double q) {
    json.Field(name, Microseconds(LatencyBuckets::Quantile(recent.latencies, q)));
  };
  quantile("p50_us", 0.5);
  quantile("p90_us", 0.9);
  quantile("p99_us", 0.99);
  quantile("p999_us", 0.999);
  json.EndObject();
}

void WriteCalls(const MethodRates& rates, JsonWriter& json) {
  json.Field("qps", rates.qps);
  json.Field("errors_per_s", rates.errors_per_second);
  json.Field("calls", rates.total.ended_count());
  json.Field("errors", rates.total.errors());
  json.Field("refused", rates.total.refused_count());
  json.Field("in_flight", rates.total.in_flight());
  ErrorCounts codes = rates.total.ended;
  for (size_t i = 0; i < codes.size(); ++i) codes[i] += rates.total.refused[i];
  json.Key("codes");
  WriteNonZero(codes, ErrorClassName, json);
  WriteLatency(rates.recent, rates.recent_seconds, json);
}

void WriteMethods(const ServerStatus& status, JsonWriter& json) {
  MethodRates all;
  for (const MethodStatus& method : status.methods) {
    all.total += method.rates.total;
    all.recent += method.rates.recent;
    all.qps += method.rates.qps;
    all.errors_per_second += method.rates.errors_per_second;
    all.recent_seconds = std::max(all.recent_seconds, method.rates.recent_seconds);
  }
  json.Key("all");
  json.BeginObject();
  WriteCalls(all, json);
  WriteLimit(status.limit, json);
  json.EndObject();
  json.Key("methods");
  json.BeginArray();
  for (const MethodStatus& method : status.methods) {
    json.BeginObject();
    json.Field("service", method.service);
    json.Field("method", method.method);
    WriteCalls(method.rates, json);
    WriteLimit(method.limit, json);
    json.EndObject();
  }
  json.EndArray();
}

void WriteHistory(const ServerStatus& status, JsonWriter& json) {
  json.Key("history");
  json.BeginArray();
  for (const CallMoment& moment : status.history) {
    json.BeginObject();
    json.Field("ago_s", std::chrono::duration<double>(status.now - moment.end).count());
    json.Field("seconds", moment.seconds);
    json.Field("qps",
               static_cast<double>(moment.counts.ended + moment.counts.refused) / moment.seconds);
    json.Field("errors_per_s", static_cast<double>(moment.counts.errors) / moment.seconds);
    json.Field("mean_us", Mean(moment.counts.latency_ns, moment.counts.ended));
    json.EndObject();
  }
  json.EndArray();
}

void WriteConnection(const ConnectionStatus& connection, JsonWriter& json) {
  const ConnectionInfo& info = connection.info;
  json.BeginObject();
  json.Field("peer", info.peer.family() == AddressFamily::kNone ? "" : info.peer.ToString());
  json.Field("local", info.local.ToString());
  json.Field("transport", ToString(info.transport));
  json.Field("device", info.device);
  json.Field("tls", info.tls);
  json.Field("tls_peer", info.tls_peer);
  json.Field("why_not_rdma", Name(info.why_not_rdma));
  json.Field("why_text", Explain(info.why_not_rdma));
  json.Field("why_detail", info.why_detail);
  json.Field("protocol", connection.protocol);
  json.Field("user", connection.user);
  json.Field("age_s", connection.age_seconds);
  json.Field("in_flight", connection.calls);
  json.Field("requests", connection.requests);
  json.Field("bytes_in", info.bytes_read);
  json.Field("bytes_out", info.bytes_written);
  json.Field("loop", connection.loop);
  json.EndObject();
}

void WriteConnections(const ConnectionsStatus& connections, JsonWriter& json) {
  json.Key("connections");
  json.BeginObject();
  json.Field("open", connections.open);
  json.Field("tcp", connections.tcp);
  json.Field("rdma", connections.rdma);
  json.Field("other", connections.other);
  json.Field("shown", connections.some.size());
  json.Key("list");
  json.BeginArray();
  for (const ConnectionStatus& connection : connections.some) WriteConnection(connection, json);
  json.EndArray();
  json.EndObject();
}

void WriteLoops(const std::vector<LoopStatus>& loops, JsonWriter& json) {
  json.Key("loops");
  json.BeginArray();
  for (const LoopStatus& loop : loops) {
    json.BeginObject();
    json.Field("answered", loop.answered);
    json.Field("answer_us", loop.answer_seconds * 1e6);
    json.Field("connections", loop.connections);
    json.Field("turns", loop.turns);
    json.Field("sleeps", loop.sleeps);
    json.EndObject();
  }
  json.EndArray();
}

void WriteMachine(const ServerStatus& status, JsonWriter& json) {
  const BlockPoolStats& pool = status.pool;
  json.Key("pool");
  json.BeginObject();
  json.Field("mapped_bytes", pool.region_bytes);
  json.Field("used_bytes", pool.used_bytes);
  json.Field("max_bytes", pool.max_bytes);
  json.Field("allocations", pool.allocations);
  json.Field("exhausted", pool.exhausted);
  json.Field("failed_growths", pool.failed_growths);
  json.Field("huge_pages", pool.huge_pages);
  json.EndObject();
  json.Key("rdma");
  json.BeginObject();
  json.Field("upgrades", status.upgrades.upgrades);
  json.Key("fallbacks");
  WriteNonZero(
      status.upgrades.fallbacks, [](size_t i) { return Name(static_cast<WhyNotRdma>(i)); }, json);
  json.EndObject();
  json.Key("process");
  json.BeginObject();
  json.Field("pid", status.process.pid);
  json.Field("cpu_s", status.process.cpu_seconds);
  json.Field("resident_bytes", status.process.resident_bytes);
  json.Field("virtual_bytes", status.process.virtual_bytes);
  json.Field("open_fds", status.process.open_fds);
  json.Field("max_fds", status.process.max_fds);
  json.Field("threads", status.process.threads);
  json.EndObject();
}

void WriteCounters(const CountersStatus& counters, JsonWriter& json) {
  json.Key("counters");
  json.BeginObject();
  json.Field("connections_accepted", counters.accepted);
  json.Field("connections_over_limit", counters.over_max_connections);
  json.Field("connections_timed_out", counters.timed_out);
  json.Field("connections_bad_peer", counters.bad_peers);
  json.Field("requests_refused_logoff", counters.refused_logoff);
  json.Field("requests_refused_limit", counters.refused_limit);
  json.Field("requests_not_found", counters.not_found);
  json.Field("requests_auth_failed", counters.auth_failed);
  json.Field("requests_late", counters.late);
  json.EndObject();
}

}  // namespace

std::string StatusJson(const ServerStatus& status) {
  JsonWriter json;
  json.BeginObject();
  json.Field("format", kFormat);
  json.Field("version", status.version);
  json.Field("listen", status.listen_address);
  json.Field("uptime_s", status.uptime_seconds);
  json.Field("stopping", status.stopping);
  json.Field("unanswered", status.unanswered);
  json.Field("running", status.running);
  json.Field("handler_threads", status.handler_threads);
  WriteMethods(status, json);
  WriteHistory(status, json);
  WriteConnections(status.connections, json);
  WriteLoops(status.loops, json);
  WriteMachine(status, json);
  WriteCounters(status.counters, json);
  json.Key("options");
  json.BeginObject();
  for (const auto& [name, value] : status.options) json.Field(name, value);
  json.EndObject();
  json.EndObject();
  return json.Take();
}

}  // namespace farcall
