// SPDX-License-Identifier: Apache-2.0
//
// Options of channels, servers and the runtime under them. Names and meanings are
// brpc's where brpc has them. Each has a default, a unit and a bound; Validate()
// is called by whoever takes the options.

#ifndef FARCALL_RPC_OPTIONS_H_
#define FARCALL_RPC_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "transport/buffer/block_pool.h"
#include "transport/loop/polling.h"
#include "transport/rdma_options.h"

namespace farcall {

class Runtime;

enum class LogSeverity : uint8_t { kInfo, kWarning, kError };
// One line, without its end. Any thread, also while a loop is held: must not block
// for long and must not call the library.
using LogSink = std::function<void(LogSeverity, absl::string_view)>;

struct RuntimeOptions {
  // Event loops, each with a thread. 0: one for each core that the process may use,
  // at most 8. At most 256.
  int event_loops = 0;
  // Processors for the loops, numbers as in /proc/cpuinfo: loop i runs on cpus[i % size()] only.
  // Best those of the network adapter's NUMA node. Empty: the scheduler chooses.
  std::vector<int> cpus;
  // How the loops wait for work.
  PollingOptions polling;
  // Blocks for what is read and for large messages; shared by all connections.
  BlockPoolOptions pool;
  // For connections with use_rdma; without one, nothing is loaded or set up.
  RdmaOptions rdma;
  // Threads of one loop that may wait inside completion closures and inline handlers at
  // the same time. 1 to 1024.
  int max_blocked_threads = 64;
  // Null: spdlog's logger "farcall" where the program has one, else standard error.
  LogSink log;

  absl::Status Validate() const;
};

struct ChannelOptions {
  // Null: the process's default runtime. Else it outlives the channel and its calls.
  Runtime* runtime = nullptr;
  // The whole call, connecting included. Milliseconds; -1: no limit. Sent to the server,
  // which drops what is too late. At most 2^31 - 1. A Controller may say otherwise for its call.
  int64_t timeout_ms = 500;
  // One attempt to connect to one address. Milliseconds, 1 to 60,000.
  int64_t connect_timeout_ms = 200;
  // Prefer RDMA; TCP carries the calls until it is set up and where it cannot be had, and
  // Controller::connection() tells the reason.
  bool use_rdma = false;
  // Calls fail rather than travel over TCP. Implies use_rdma.
  bool require_rdma = false;
  // Bytes of a response with its attachment; a larger one closes the connection. 1 KiB to 4 GiB
  // - 1.
  size_t max_body_size = size_t{64} << 20;
  // Bytes that wait to be sent; beyond, new calls fail with EOVERCROWDED. At least 64 KiB.
  // One call may go over it, however large it is.
  size_t max_backlog = size_t{64} << 20;
  // Calls that wait for an answer; beyond, new ones fail with EOVERCROWDED. 1 to 1,000,000.
  int max_pending_calls = 100'000;
  // DSCP << 2, for switches: IP_TOS or IPV6_TCLASS of sockets, and the same on queue pairs. 0 to
  // 255; -1: as the environment variable FARCALL_TRAFFIC_CLASS says, else 0.
  int traffic_class = -1;

  absl::Status Validate() const;
};

struct ServerOptions {
  // Null: the process's default runtime. Else it outlives the server.
  Runtime* runtime = nullptr;
  // Threads that run the handlers. 0: inline, on the loop's thread: fastest, for handlers that
  // take microseconds. -1: twice the cores that the process may use, at least 4. At most 1024.
  int handler_threads = -1;
  // Requests that run or wait for a thread, all connections together; beyond, they are answered
  // with ELIMIT. 0: no limit but that of each connection.
  int max_concurrency = 0;
  // The same for one connection; beyond, its requests wait in the socket. 1 to 1,000,000.
  int max_concurrency_per_connection = 4096;
  // Accept RDMA where a client asks for it. Calls of others come over TCP.
  bool use_rdma = false;
  // Start fails where RDMA cannot be had. Implies use_rdma.
  bool require_rdma = false;
  // Bytes of a request with its attachment; a larger one closes the connection. 1 KiB to 4 GiB - 1.
  size_t max_body_size = size_t{64} << 20;
  // As in ChannelOptions, for responses.
  int traffic_class = -1;

  absl::Status Validate() const;
};

}  // namespace farcall

#endif  // FARCALL_RPC_OPTIONS_H_
