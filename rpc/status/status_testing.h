// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_STATUS_STATUS_TESTING_H_
#define FARCALL_RPC_STATUS_STATUS_TESTING_H_

#include <chrono>
#include <string>

#include "rpc/errors.h"
#include "rpc/status/server_status.h"

namespace farcall {

// `ok` calls of `latency`, and `failed` ones that took as long.
inline MethodSnapshot CallsOf(uint64_t ok, uint64_t failed, Duration latency) {
  MethodSnapshot calls;
  calls.started = ok + failed;
  calls.ended[0] = ok;
  calls.ended[ErrorClassOf(kInternal)] = failed;
  calls.latency_ns = (ok + failed) * static_cast<uint64_t>(latency.count());
  calls.latencies[LatencyBuckets::Of(latency)] = ok + failed;
  return calls;
}

// Two devices: one in use and one that may not be; and something of every count.
inline RdmaStatus SampleRdma() {
  RdmaStatus rdma;
  rdma.answered = rdma.looked = true;
  rdma.answer_seconds = 0.00001;
  rdma.setups = 3;
  rdma.incoming_setups = 2;
  RdmaDeviceStatus used;
  used.name = "mlx5_0";
  used.link_layer = "RoCE";
  used.present = used.open = true;
  used.reads = ReadsWhy::kMeasuring;
  used.ports = {{1, true, 4096, {{"out_of_sequence", 13}, {"packet_seq_err", 0}}}};
  used.addresses = {"192.0.2.7"};
  used.queue_pairs = 2;
  used.queue_pairs_ever = 12;
  used.loops = 1;
  used.removals = 1;
  used.events = {{"port_err", 1}, {"port_active", 2}};
  RdmaTraffic& traffic = used.traffic;
  traffic.connections = 1;
  traffic.connections_ever = 11;
  traffic.breaks = {{"retry_exc_err", 4}, {"wr_flush_err", 6}};
  traffic.bytes_in = 100'000;
  traffic.bytes_out = 200'000;
  traffic.messages_in = 50;
  traffic.messages_out = 60;
  traffic.doorbells = 40;
  traffic.completions = 90;
  traffic.credit_waits = 7;
  traffic.slot_waits = 8;
  traffic.memory_waits = 9;
  traffic.receive_slots = 512;
  traffic.receives_posted = 500;
  traffic.receives_promised = 64;
  traffic.receives_lost = 3;
  traffic.silent_ends = 2;
  RdmaDeviceStatus down;
  down.name = "mlx5_1";
  down.link_layer = "InfiniBand";
  down.present = true;
  down.why = WhyNotRdma::kNoActivePort;
  down.why_detail = "mlx5_1";
  down.ports = {{1, false, 0}};
  rdma.devices = {used, down};
  rdma.memory = {3, 24 << 20, 24 << 20, 3, 1, 0.004, 3};
  return rdma;
}

inline ConnectionsStatus SampleConnections() {
  ConnectionsStatus connections{2, 1, 1, 0, {}};
  ConnectionStatus tcp;
  tcp.info.local = Address::Ipv4({127, 0, 0, 1}, 8002);
  tcp.info.peer = Address::Ipv4({127, 0, 0, 1}, 40'000);
  tcp.info.why_not_rdma = WhyNotRdma::kNoDevice;
  tcp.info.why_detail = "none of mlx5_0";
  tcp.info.tls = "TLSv1.3 TLS_AES_256_GCM_SHA384";
  tcp.info.tls_peer = "/CN=client";
  tcp.info.bytes_read = 1000;
  tcp.info.bytes_written = 2000;
  tcp.protocol = "baidu_std";
  tcp.user = "alice";
  tcp.age_seconds = 12;
  tcp.calls = 1;
  tcp.requests = 42;
  ConnectionStatus rdma = tcp;
  rdma.info.transport = TransportKind::kRdma;
  rdma.info.why_not_rdma = WhyNotRdma::kInUse;
  rdma.info.device = "mlx5_0";
  rdma.info.rdma.generation = 2;
  rdma.info.rdma.credits = 60;
  rdma.info.rdma.upgrades = 2;
  rdma.info.rdma.fallbacks = 1;
  rdma.info.rdma.last_fallback = WhyNotRdma::kBroken;
  rdma.info.rdma.messages_in = 30;
  rdma.info.rdma.messages_out = 31;
  rdma.info.rdma.reads = {ReadsWhy::kSendsAreFaster, 19'000'000'000, 2'700'000'000};
  rdma.info.rdma.fetches = true;
  rdma.info.rdma.fetched = 70'000;
  rdma.info.rdma.credit_waits = 5;
  rdma.info.rails = {
      {.generation = 2, .device = "mlx5_0", .port = 1, .bytes_out = 300, .share = 0.75},
      {.generation = 4, .device = "mlx5_1", .port = 2, .bytes_out = 100, .share = 0.25}};
  connections.some = {tcp, rdma};
  return connections;
}

inline ClientsStatus SampleClients() {
  ClientsStatus clients;
  clients.loops.resize(1);
  clients.loops[0] = {true, 40e-6, 1, 9, 8};
  clients.sessions = 3;
  ClientConnectionStatus one;
  one.server = "10.0.0.1:80";
  one.info.transport = TransportKind::kRdma;
  one.info.why_not_rdma = WhyNotRdma::kInUse;
  one.info.device = "mlx5_0";
  one.info.bytes_read = 100;
  one.info.bytes_written = 200;
  one.connected = true;
  one.calls = 2;
  ClientConnectionStatus other;
  other.server = "store:80";
  other.info.why_not_rdma = WhyNotRdma::kPeerSilent;
  other.loop = 1;
  clients.some = {one, other};
  return clients;
}

// A server of two methods, one of them idle, with one connection over each transport.
inline ServerStatus SampleStatus() {
  ServerStatus status;
  status.version = "1.2.3";
  status.listen_address = "127.0.0.1:8002";
  status.now = TimePoint(std::chrono::seconds(500));
  status.uptime_seconds = 123.5;
  status.unanswered = 3;
  status.running = 2;
  status.handler_threads = 4;
  status.waiting = 9;
  status.limit = {64, true};
  MethodStatus echo{"test.EchoService", "Echo", {}, {8, false}};
  echo.rates.total = CallsOf(9990, 10, std::chrono::microseconds(100));
  echo.rates.total.started += 3;
  echo.rates.total.refused[ErrorClassOf(kLimit)] = 5;
  echo.rates.recent = CallsOf(600, 0, std::chrono::microseconds(200));
  echo.rates.recent_seconds = 60;
  echo.rates.qps = 10.5;
  echo.on_pool = true;
  echo.rates.errors_per_second = 0.5;
  status.methods = {echo, {"test.EchoService", "Idle", {}, {}}};
  for (int i = 0; i < 3; ++i) {
    const MethodCounts counts{10, 10, 1, 0, 10'000'000};
    status.history.push_back({status.now - std::chrono::seconds(2 - i), 1, counts});
  }
  status.connections = SampleConnections();
  status.loops = {{true, 0.00002, 2, 1000, 10}, {}};
  status.pool.region_bytes = 8 << 20;
  status.pool.used_bytes = 64 << 10;
  status.pool.max_bytes = size_t{1} << 30;
  status.runtime.clients = SampleClients();
  status.runtime.upgrades.upgrades = 1;
  status.runtime.upgrades.stalls = 3;
  status.runtime.upgrades.stalled = 2;
  status.runtime.upgrades.fallbacks[static_cast<size_t>(WhyNotRdma::kNoDevice)] = 7;
  status.runtime.rdma = SampleRdma();
  status.runtime.copied[CopyCause::kSentSmall] = 77;
  const PastEvent::Time noon{std::chrono::hours(12)};
  status.runtime.events = {{noon, noon, 1, "RDMA devices: mlx5_0 (RoCE)"},
                           {noon, noon + std::chrono::seconds(1), 3, "a travels over TCP: broken"}};
  status.runtime.events_forgotten = 5;
  status.runtime.options = {{"event_loops", "default", "default"},
                            {"polling.mode", "busy", "FARCALL_POLLING_MODE"}};
  status.runtime.loops_taken_over = 21;
  status.runtime.loops_held_up = 22;
  status.counters.accepted = 2;
  status.counters.long_handlers = 23;
  status.counters.not_found = 4;
  status.options = {{"max_body_size", "67108864"}, {"use_rdma", "true"}};
  status.process = {
      4711, 1.7e9, 12.5, 30 << 20, 300 << 20, 12, 1024, 9, 8 << 20, 24 << 20, "Linux 6.1.0 x86_64",
      noon};
  return status;
}

}  // namespace farcall

#endif  // FARCALL_RPC_STATUS_STATUS_TESTING_H_
