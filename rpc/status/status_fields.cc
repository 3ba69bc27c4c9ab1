// SPDX-License-Identifier: Apache-2.0

#include "rpc/status/status_fields.h"

#include <algorithm>
#include <utility>

#include "rpc/status/json_writer.h"
#include "rpc/status/rdma_fields.h"
#include "rpc/status/text_writer.h"

namespace farcall {
namespace {

constexpr int kFormat = 1;

double Microseconds(Duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

double Mean(uint64_t sum_ns, uint64_t count) {
  return count == 0 ? 0 : static_cast<double>(sum_ns) / static_cast<double>(count) / 1000;
}

void WriteLimit(const LimitStatus& limit, FieldWriter& out) {
  out.Key("limit");
  limit.now == 0 ? out.Null() : out.Value(limit.now);
  out.Field("limit_auto", limit.automatic);
}

void WriteLatency(const MethodSnapshot& recent, double seconds, FieldWriter& out) {
  const uint64_t count = LatencyBuckets::Total(recent.latencies);
  out.Object("latency", [&] {
    out.Field("window_s", seconds);
    out.Field("calls", count);
    out.Field("mean_us", Mean(recent.latency_ns, count));
    for (const auto& [name, quantile] :
         {std::pair{"p50_us", 0.5}, {"p90_us", 0.9}, {"p99_us", 0.99}, {"p999_us", 0.999}}) {
      out.Field(name, Microseconds(LatencyBuckets::Quantile(recent.latencies, quantile)));
    }
  });
}

void WriteCalls(const MethodRates& rates, FieldWriter& out) {
  out.Field("qps", rates.qps);
  out.Field("errors_per_s", rates.errors_per_second);
  out.Field("calls", rates.total.ended_count());
  out.Field("errors", rates.total.errors());
  out.Field("refused", rates.total.refused_count());
  out.Field("in_flight", rates.total.in_flight());
  ErrorCounts codes = rates.total.ended;
  for (size_t i = 0; i < codes.size(); ++i) codes[i] += rates.total.refused[i];
  out.NonZero("codes", codes, ErrorClassName);
  WriteLatency(rates.recent, rates.recent_seconds, out);
}

void WriteMethods(const ServerStatus& status, FieldWriter& out) {
  MethodRates all;
  for (const MethodStatus& method : status.methods) {
    all.total += method.rates.total;
    all.recent += method.rates.recent;
    all.qps += method.rates.qps;
    all.errors_per_second += method.rates.errors_per_second;
    all.recent_seconds = std::max(all.recent_seconds, method.rates.recent_seconds);
  }
  out.Object("all", [&] {
    WriteCalls(all, out);
    WriteLimit(status.limit, out);
  });
  out.Objects("methods", status.methods, [&](const MethodStatus& method) {
    out.Field("service", method.service);
    out.Field("method", method.method);
    WriteCalls(method.rates, out);
    WriteLimit(method.limit, out);
    out.Field("on_pool", method.on_pool);
  });
}

void WriteHistory(const ServerStatus& status, FieldWriter& out) {
  out.Objects("history", status.history, [&](const CallMoment& moment) {
    const MethodCounts& counts = moment.counts;
    out.Field("ago_s", std::chrono::duration<double>(status.now - moment.end).count());
    out.Field("seconds", moment.seconds);
    out.Field("qps", static_cast<double>(counts.ended + counts.refused) / moment.seconds);
    out.Field("errors_per_s", static_cast<double>(counts.errors) / moment.seconds);
    out.Field("mean_us", Mean(counts.latency_ns, counts.ended));
  });
}

void WriteInfo(const ConnectionInfo& info, FieldWriter& out) {
  out.Field("peer", info.peer.family() == AddressFamily::kNone ? "" : info.peer.ToString());
  out.Field("local", info.local.ToString());
  out.Field("transport", ToString(info.transport));
  out.Field("device", info.device);
  out.Field("device_why", info.device_why);
  out.Field("set_up", info.set_up);
  out.Field("wire", info.wire);
  out.Field("tls", info.tls);
  out.Field("tls_peer", info.tls_peer);
  out.Field("why_not_rdma", Name(info.why_not_rdma));
  out.Field("why_text", Explain(info.why_not_rdma));
  out.Field("why_detail", info.why_detail);
  out.Field("bytes_in", info.bytes_read);
  out.Field("bytes_out", info.bytes_written);
  WriteRdmaUse(info, out);
}

void WriteConnection(const ConnectionStatus& connection, FieldWriter& out) {
  out.Field("protocol", connection.protocol);
  out.Field("user", connection.user);
  out.Field("age_s", connection.age_seconds);
  out.Field("in_flight", connection.calls);
  out.Field("requests", connection.requests);
  out.Field("loop", connection.loop);
  WriteInfo(connection.info, out);
}

void WriteConnections(const ConnectionsStatus& connections, FieldWriter& out) {
  out.Object("connections", [&] {
    out.Field("open", connections.open);
    out.Field("tcp", connections.tcp);
    out.Field("rdma", connections.rdma);
    out.Field("other", connections.other);
    out.Field("shown", connections.some.size());
    out.Objects("list", connections.some,
                [&](const ConnectionStatus& one) { WriteConnection(one, out); });
  });
}

void WriteLoops(const std::vector<LoopStatus>& loops, FieldWriter& out) {
  out.Objects("loops", loops, [&](const LoopStatus& loop) {
    out.Field("answered", loop.answered);
    out.Field("answer_us", loop.answer_seconds * 1e6);
    out.Field("connections", loop.connections);
    out.Field("turns", loop.turns);
    out.Field("sleeps", loop.sleeps);
  });
}

void WriteChannels(const ClientsStatus& clients, FieldWriter& out) {
  out.Object("channels", [&] {
    out.Field("connections", clients.sessions);
    out.Field("shown", clients.some.size());
    WriteLoops(clients.loops, out);
    out.Objects("list", clients.some, [&](const ClientConnectionStatus& one) {
      out.Field("server", one.server);
      out.Field("connected", one.connected);
      out.Field("loop", one.loop);
      out.Field("in_flight", one.calls);
      WriteInfo(one.info, out);
    });
  });
}

void WritePool(const BlockPoolStats& pool, FieldWriter& out) {
  out.Object("pool", [&] {
    out.Field("mapped_bytes", pool.region_bytes);
    out.Field("used_bytes", pool.used_bytes);
    out.Field("max_bytes", pool.max_bytes);
    out.Field("allocations", pool.allocations);
    out.Field("exhausted", pool.exhausted);
    out.Field("failed_growths", pool.failed_growths);
    out.Field("huge_pages", pool.huge_pages);
  });
}

void WriteProcess(const ProcessStatus& process, FieldWriter& out) {
  out.Object("process", [&] {
    out.Field("pid", process.pid);
    out.Field("cpu_s", process.cpu_seconds);
    out.Field("resident_bytes", process.resident_bytes);
    out.Field("virtual_bytes", process.virtual_bytes);
    out.Field("open_fds", process.open_fds);
    out.Field("max_fds", process.max_fds);
    out.Field("threads", process.threads);
    out.Key("memlock_bytes");
    process.memlock_bytes == ProcessStatus::kUnlimited ? out.Null()
                                                       : out.Value(process.memlock_bytes);
    out.Field("pinned_bytes", process.pinned_bytes);
    out.Field("kernel", process.kernel);
  });
}

void WriteCounters(const CountersStatus& counters, FieldWriter& out) {
  out.Object("counters", [&] {
    out.Field("connections_accepted", counters.accepted);
    out.Field("connections_over_limit", counters.over_max_connections);
    out.Field("connections_timed_out", counters.timed_out);
    out.Field("connections_bad_peer", counters.bad_peers);
    out.Field("requests_refused_logoff", counters.refused_logoff);
    out.Field("requests_refused_limit", counters.refused_limit);
    out.Field("requests_not_found", counters.not_found);
    out.Field("requests_auth_failed", counters.auth_failed);
    out.Field("requests_late", counters.late);
    out.Field("handlers_long", counters.long_handlers);
  });
}

void WriteTop(const ServerStatus& status, FieldWriter& out) {
  out.Field("listen", status.listen_address);
  out.Field("uptime_s", status.uptime_seconds);
  out.Field("stopping", status.stopping);
  out.Field("unanswered", status.unanswered);
  out.Field("running", status.running);
  out.Field("handler_threads", status.handler_threads);
  out.Field("waiting", status.waiting);
}

void WriteServer(const ServerStatus& status, FieldWriter& out) {
  WriteCounters(status.counters, out);
  out.Object("options", [&] {
    for (const auto& [name, value] : status.options) out.Field(name, value);
  });
  WriteMethods(status, out);
  WriteHistory(status, out);
  WriteLoops(status.loops, out);
  WriteConnections(status.connections, out);
}

void WriteRuntime(const ServerStatus& status, FieldWriter& out) {
  WriteProcess(status.process, out);
  WritePool(status.pool, out);
  WriteRdma(status.runtime, out);
  out.Object("runtime_options", [&] {
    for (const OptionStatus& one : status.runtime.options) out.Field(one.name, one.value);
  });
  out.Object("runtime_options_from", [&] {
    for (const OptionStatus& one : status.runtime.options) out.Field(one.name, one.from);
  });
}

void WriteLoopsTaken(const RuntimeStatus& runtime, FieldWriter& out) {
  out.Field("loops_taken_over", runtime.loops_taken_over);
  out.Field("loops_held_up", runtime.loops_held_up);
}

}  // namespace

std::string StatusJson(const ServerStatus& status) {
  JsonWriter json;
  json.BeginObject();
  json.Field("format", kFormat);
  json.Field("version", status.version);
  WriteTop(status, json);
  WriteLoopsTaken(status.runtime, json);
  WriteServer(status, json);
  WriteRuntime(status, json);
  json.EndObject();
  return json.Take();
}

std::string DumpText(ServerStatus status) {
  for (ConnectionStatus& one : status.connections.some) one.user = one.info.tls_peer = "";
  for (ClientConnectionStatus& one : status.runtime.clients.some) one.info.tls_peer = "";
  const bool server = !status.listen_address.empty();
  TextWriter text;
  text.BeginObject();
  text.Field("farcall", status.version);
  text.Moment("taken", status.process.taken);
  if (server) WriteTop(status, text);
  WriteLoopsTaken(status.runtime, text);
  WriteRuntime(status, text);
  WriteChannels(status.runtime.clients, text);
  if (server) WriteServer(status, text);
  text.EndObject();
  return text.Take();
}

}  // namespace farcall
