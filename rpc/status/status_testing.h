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
  status.limit = {64, true};
  MethodStatus echo{"test.EchoService", "Echo", {}, {8, false}};
  echo.rates.total = CallsOf(9990, 10, std::chrono::microseconds(100));
  echo.rates.total.started += 3;
  echo.rates.total.refused[ErrorClassOf(kLimit)] = 5;
  echo.rates.recent = CallsOf(600, 0, std::chrono::microseconds(200));
  echo.rates.recent_seconds = 60;
  echo.rates.qps = 10.5;
  echo.rates.errors_per_second = 0.5;
  status.methods = {echo, {"test.EchoService", "Idle", {}, {}}};
  for (int i = 0; i < 3; ++i) {
    const MethodCounts counts{10, 10, 1, 0, 10'000'000};
    status.history.push_back({status.now - std::chrono::seconds(2 - i), 1, counts});
  }
  status.connections = {2, 1, 1, 0, {}};
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
  status.connections.some = {tcp, rdma};
  status.loops = {{true, 0.00002, 2, 1000, 10}, {}};
  status.pool.region_bytes = 8 << 20;
  status.pool.used_bytes = 64 << 10;
  status.pool.max_bytes = size_t{1} << 30;
  status.upgrades.upgrades = 1;
  status.upgrades.fallbacks[static_cast<size_t>(WhyNotRdma::kNoDevice)] = 7;
  status.counters.accepted = 2;
  status.counters.not_found = 4;
  status.options = {{"max_body_size", "67108864"}, {"use_rdma", "true"}};
  status.process = {4711, 1.7e9, 12.5, 30 << 20, 300 << 20, 12, 1024, 9};
  return status;
}

}  // namespace farcall

#endif  // FARCALL_RPC_STATUS_STATUS_TESTING_H_
