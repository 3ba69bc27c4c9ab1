// SPDX-License-Identifier: Apache-2.0

#include "rpc/status/status_json.h"

#include <algorithm>
#include <utility>

#include "rpc/status/json_parts.h"
#include "rpc/status/json_writer.h"
#include "rpc/status/rdma_json.h"

namespace farcall {
namespace {

constexpr int kFormat = 1;

double Microseconds(Duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

double Mean(uint64_t sum_ns, uint64_t count) {
  return count == 0 ? 0 : static_cast<double>(sum_ns) / static_cast<double>(count) / 1000;
}

void WriteLimit(const LimitStatus& limit, JsonWriter& json) {
  json.Key("limit");
  limit.now == 0 ? json.Null() : json.Value(limit.now);
  json.Field("limit_auto", limit.automatic);
}

void WriteLatency(const MethodSnapshot& recent, double seconds, JsonWriter& json) {
  const uint64_t count = LatencyBuckets::Total(recent.latencies);
  WriteObject("latency", json, [&] {
    json.Field("window_s", seconds);
    json.Field("calls", count);
    json.Field("mean_us", Mean(recent.latency_ns, count));
    for (const auto& [name, quantile] :
         {std::pair{"p50_us", 0.5}, {"p90_us", 0.9}, {"p99_us", 0.99}, {"p999_us", 0.999}}) {
      json.Field(name, Microseconds(LatencyBuckets::Quantile(recent.latencies, quantile)));
    }
  });
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
  WriteNonZero("codes", codes, json, ErrorClassName);
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
  WriteObject("all", json, [&] {
    WriteCalls(all, json);
    WriteLimit(status.limit, json);
  });
  WriteObjects("methods", status.methods, json, [&](const MethodStatus& method) {
    json.Field("service", method.service);
    json.Field("method", method.method);
    WriteCalls(method.rates, json);
    WriteLimit(method.limit, json);
    json.Field("on_pool", method.on_pool);
  });
}

void WriteHistory(const ServerStatus& status, JsonWriter& json) {
  WriteObjects("history", status.history, json, [&](const CallMoment& moment) {
    const MethodCounts& counts = moment.counts;
    json.Field("ago_s", std::chrono::duration<double>(status.now - moment.end).count());
    json.Field("seconds", moment.seconds);
    json.Field("qps", static_cast<double>(counts.ended + counts.refused) / moment.seconds);
    json.Field("errors_per_s", static_cast<double>(counts.errors) / moment.seconds);
    json.Field("mean_us", Mean(counts.latency_ns, counts.ended));
  });
}

void WriteConnection(const ConnectionStatus& connection, JsonWriter& json) {
  const ConnectionInfo& info = connection.info;
  json.Field("peer", info.peer.family() == AddressFamily::kNone ? "" : info.peer.ToString());
  json.Field("local", info.local.ToString());
  json.Field("transport", ToString(info.transport));
  json.Field("device", info.device);
  json.Field("device_why", info.device_why);
  json.Field("set_up", info.set_up);
  json.Field("wire", info.wire);
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
  WriteRdmaUse(info, json);
}

void WriteConnections(const ConnectionsStatus& connections, JsonWriter& json) {
  WriteObject("connections", json, [&] {
    json.Field("open", connections.open);
    json.Field("tcp", connections.tcp);
    json.Field("rdma", connections.rdma);
    json.Field("other", connections.other);
    json.Field("shown", connections.some.size());
    WriteObjects("list", connections.some, json,
                 [&](const ConnectionStatus& one) { WriteConnection(one, json); });
  });
}

void WriteLoops(const std::vector<LoopStatus>& loops, JsonWriter& json) {
  WriteObjects("loops", loops, json, [&](const LoopStatus& loop) {
    json.Field("answered", loop.answered);
    json.Field("answer_us", loop.answer_seconds * 1e6);
    json.Field("connections", loop.connections);
    json.Field("turns", loop.turns);
    json.Field("sleeps", loop.sleeps);
  });
}

void WritePool(const BlockPoolStats& pool, JsonWriter& json) {
  WriteObject("pool", json, [&] {
    json.Field("mapped_bytes", pool.region_bytes);
    json.Field("used_bytes", pool.used_bytes);
    json.Field("max_bytes", pool.max_bytes);
    json.Field("allocations", pool.allocations);
    json.Field("exhausted", pool.exhausted);
    json.Field("failed_growths", pool.failed_growths);
    json.Field("huge_pages", pool.huge_pages);
  });
}

void WriteProcess(const ProcessStatus& process, JsonWriter& json) {
  WriteObject("process", json, [&] {
    json.Field("pid", process.pid);
    json.Field("cpu_s", process.cpu_seconds);
    json.Field("resident_bytes", process.resident_bytes);
    json.Field("virtual_bytes", process.virtual_bytes);
    json.Field("open_fds", process.open_fds);
    json.Field("max_fds", process.max_fds);
    json.Field("threads", process.threads);
    json.Key("memlock_bytes");
    process.memlock_bytes == ProcessStatus::kUnlimited ? json.Null()
                                                       : json.Value(process.memlock_bytes);
    json.Field("pinned_bytes", process.pinned_bytes);
    json.Field("kernel", process.kernel);
  });
}

void WriteCounters(const CountersStatus& counters, JsonWriter& json) {
  WriteObject("counters", json, [&] {
    json.Field("connections_accepted", counters.accepted);
    json.Field("connections_over_limit", counters.over_max_connections);
    json.Field("connections_timed_out", counters.timed_out);
    json.Field("connections_bad_peer", counters.bad_peers);
    json.Field("requests_refused_logoff", counters.refused_logoff);
    json.Field("requests_refused_limit", counters.refused_limit);
    json.Field("requests_not_found", counters.not_found);
    json.Field("requests_auth_failed", counters.auth_failed);
    json.Field("requests_late", counters.late);
    json.Field("handlers_long", counters.long_handlers);
  });
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
  json.Field("waiting", status.waiting);
  json.Field("loops_taken_over", status.runtime.loops_taken_over);
  json.Field("loops_held_up", status.runtime.loops_held_up);
  WriteMethods(status, json);
  WriteHistory(status, json);
  WriteConnections(status.connections, json);
  WriteLoops(status.loops, json);
  WritePool(status.pool, json);
  WriteRdma(status.runtime, json);
  WriteProcess(status.process, json);
  WriteCounters(status.counters, json);
  WriteObject("options", json, [&] {
    for (const auto& [name, value] : status.options) json.Field(name, value);
  });
  WriteObject("runtime_options", json, [&] {
    for (const OptionStatus& one : status.runtime.options) json.Field(one.name, one.value);
  });
  WriteObject("runtime_options_from", json, [&] {
    for (const OptionStatus& one : status.runtime.options) json.Field(one.name, one.from);
  });
  json.EndObject();
  return json.Take();
}

}  // namespace farcall
