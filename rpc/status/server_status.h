// SPDX-License-Identifier: Apache-2.0
//
// What a server tells about itself: plain values, collected in one place (status_collector.h) and
// shown in two: by their fields (status_fields.h), and as metrics (status_metrics.h).

#ifndef FARCALL_RPC_STATUS_SERVER_STATUS_H_
#define FARCALL_RPC_STATUS_SERVER_STATUS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rpc/stats/method_snapshot.h"
#include "rpc/status/runtime_status.h"
#include "transport/buffer/block_pool.h"
#include "transport/connection_info.h"
#include "transport/why_not_rdma.h"

namespace farcall {

// A limit on requests under way at once.
struct LimitStatus {
  int now = 0;  // 0: none
  bool automatic = false;
};

struct MethodStatus {
  std::string service;  // "pkg.EchoService"
  std::string method;
  MethodRates rates;
  LimitStatus limit;
  bool on_pool = false;  // its handlers run on handler threads, as they were slow
};

struct ConnectionStatus {
  ConnectionInfo info;
  std::string protocol;  // "" before the first bytes
  std::string user;      // by authentication; "" without
  double age_seconds = 0;
  int calls = 0;  // under way
  uint64_t requests = 0;
  int loop = 0;
};

// All of them, and details of some.
struct ConnectionsStatus {
  uint64_t open = 0;
  // Of those that were looked at: all, unless a loop did not answer in time.
  uint64_t tcp = 0;
  uint64_t rdma = 0;
  uint64_t other = 0;
  std::vector<ConnectionStatus> some;
};

// What happened beside the calls of methods, since the start.
struct CountersStatus {
  uint64_t accepted = 0;              // connections
  uint64_t over_max_connections = 0;  // connections closed at once
  uint64_t timed_out = 0;             // connections closed: idle, or slow to send
  uint64_t bad_peers = 0;             // connections closed for what was sent
  uint64_t refused_logoff = 0;        // requests
  uint64_t refused_limit = 0;
  uint64_t not_found = 0;
  uint64_t auth_failed = 0;
  uint64_t late = 0;
  uint64_t long_handlers = 0;  // that held up the loop where they were run
};

struct ProcessStatus {
  int pid = 0;
  double start_unix_seconds = 0;
  double cpu_seconds = 0;  // user and system
  uint64_t resident_bytes = 0;
  uint64_t virtual_bytes = 0;
  uint64_t open_fds = 0;
  uint64_t max_fds = 0;
  uint64_t threads = 0;
  uint64_t memlock_bytes = 0;  // RLIMIT_MEMLOCK; kUnlimited: none
  uint64_t pinned_bytes = 0;   // locked by drivers, as for RDMA
  std::string kernel;          // "Linux 6.1.0-18-amd64 x86_64"
  PastEvent::Time taken{};     // when all this was looked at

  static constexpr uint64_t kUnlimited = UINT64_MAX;
};

struct ServerStatus {
  std::string version;
  std::string listen_address;
  TimePoint now{};
  double uptime_seconds = 0;
  bool stopping = false;
  int unanswered = 0;       // requests that were admitted and not answered
  int running = 0;          // those of them that run or wait for a thread
  int handler_threads = 0;  // at most; 0: none
  size_t waiting = 0;       // requests that wait for one
  LimitStatus limit;
  std::vector<MethodStatus> methods;
  std::vector<CallMoment> history;
  ConnectionsStatus connections;
  std::vector<LoopStatus> loops;
  BlockPoolStats pool;
  RuntimeStatus runtime;
  CountersStatus counters;
  std::vector<std::pair<std::string, std::string>> options;
  ProcessStatus process;
};

}  // namespace farcall

#endif  // FARCALL_RPC_STATUS_SERVER_STATUS_H_
