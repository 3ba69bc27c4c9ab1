// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SERVER_OPTIONS_H_
#define FARCALL_RPC_SERVER_OPTIONS_H_

#include <climits>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "rpc/types.h"
#include "transport/tls_options.h"

namespace farcall {

class Authenticator;
class Runtime;
class ServerInterceptor;

// Requests under way at once: a number (0: no limit), or found by the library from latency and
// throughput as they are measured.
class MaxConcurrency {
 public:
  constexpr MaxConcurrency(int number = 0) : number_(number) {}  // implicit: options.x = 8
  static constexpr MaxConcurrency Auto() { return MaxConcurrency(kAuto); }
  constexpr bool is_auto() const { return number_ == kAuto; }
  constexpr int number() const { return is_auto() ? 0 : number_; }

 private:
  // One number, so that it is read and written at once without a library's lock.
  static constexpr int kAuto = INT_MIN;
  int number_;
};

struct ServerOptions {
  // Null: the process's default runtime. Else it outlives the server.
  Runtime* runtime = nullptr;
  // A handler runs where its request was read, on the thread that drives the loop; another thread
  // drives on when it runs for more than a millisecond or waits in a synchronous call. A method
  // whose handler does the former again and again runs on handler threads until it is quick again:
  // so many at most, those that hold up a loop's thread among them. -1: twice the cores that the
  // process may use (affinity, and the quotas of its cgroups), at least 4. 0: none; a handler that
  // is slow holds up its loop. At most 1024. docs/server.md says more.
  int handler_threads = -1;
  // All handlers always run on handler threads, which costs two thread hops a call. Not with
  // handler_threads 0.
  bool handlers_on_pool = false;

  // --- Limits. Server::MaxConcurrencyOf limits single methods.

  // Requests that run or wait for a thread, all connections together; beyond, they are answered
  // with ELIMIT. 0: no limit but that of each connection.
  MaxConcurrency max_concurrency = 0;
  // The same for one connection; beyond, its requests wait in the socket. 1 to 1,000,000.
  int max_concurrency_per_connection = 4096;
  // Connections at once; one more is closed when it comes, which is logged. 1 to 1,000,000.
  int max_connections = 20'000;
  // A connection with nothing under way for so long is closed. Milliseconds, 10 to 2^31 - 1;
  // -1: never.
  int64_t idle_timeout_ms = 600'000;
  // A connection on which a request was begun, or nothing was sent at all, and for so long is not
  // complete, is closed; so is one that takes nothing of its answers for so long, or less than
  // 16 KiB a second of those that wait. Milliseconds, 10 to 2^31 - 1; -1: never.
  int64_t read_timeout_ms = 30'000;
  // Bytes of a request with its attachment, as it travels and when it is unpacked; a larger one is
  // answered with EREQUEST. 1 KiB to 4 GiB - 1.
  size_t max_body_size = size_t{64} << 20;

  // --- The wire.

  // Accept RDMA where a client asks for it. Calls of others come over TCP.
  bool use_rdma = false;
  // Start fails where RDMA cannot be had. Implies use_rdma.
  bool require_rdma = false;
  // As in ChannelOptions, for responses.
  int traffic_class = -1;
  // Null: everybody may call.
  std::shared_ptr<const Authenticator> auth;
  // Null: no TLS. Else clients without TLS are refused.
  std::shared_ptr<const ServerTlsOptions> tls;
  RdmaWithTls rdma_with_tls = RdmaWithTls::kRefuse;
  std::vector<std::shared_ptr<ServerInterceptor>> interceptors;

  // --- What the port answers beside the program's services.

  // HTTP/1.1: JSON calls of the services, /health, /metrics, /status.
  bool http = true;
  // The service that tells the .proto files of the others, for tools (rpc/reflection).
  bool reflection = true;

  absl::Status Validate() const;
};

}  // namespace farcall

#endif  // FARCALL_RPC_SERVER_OPTIONS_H_
