// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CHANNEL_OPTIONS_H_
#define FARCALL_RPC_CHANNEL_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "rpc/types.h"
#include "transport/tls_options.h"

namespace farcall {

class Authenticator;
class ClientInterceptor;
class RetryPolicy;
class Runtime;

// When a server that fails often is left alone for a while, although it can be reached.
struct CircuitBreakerOptions {
  bool enabled = false;
  // The share of calls that may fail: of the last `window_calls`, moving. 0.01 to 1. Errors
  // of the service's own (those of its handlers) do not count; timeouts do.
  double error_rate = 0.5;
  // Calls, 10 to 100,000; no verdict before so many.
  int window_calls = 100;
  // A server whose mean latency is so many times the median of its peers' counts as failing.
  // 0: latency does not count. 0, or 2 to 1000.
  double latency_factor = 0;
  // How long it is left alone: doubling with each time in a row. Milliseconds, 1 to 3,600,000;
  // first <= longest.
  int64_t first_pause_ms = 1000;
  int64_t longest_pause_ms = 60'000;
};

struct ChannelOptions {
  // Null: the process's default runtime. Else it outlives the channel and its calls.
  Runtime* runtime = nullptr;
  // Event loops that the channel's calls are spread over, by calling thread; each has its own
  // connections and its own view of the servers. 1 to 256, clipped to what the runtime has.
  int event_loops = 1;

  // --- Time. A Controller may say otherwise for its call.

  // The whole call: connecting, retries and backup requests included. Milliseconds; -1: no limit.
  // Sent to the server, which drops what is too late. At most 2^31 - 1.
  int64_t timeout_ms = 500;
  // One attempt to connect to one address. Milliseconds, 1 to 60,000.
  int64_t connect_timeout_ms = 200;
  // A second request goes out when there is no answer after so long, to another server where
  // there is one; the first answer counts. Milliseconds; -1: none.
  int64_t backup_request_ms = -1;

  // --- Failures.

  // Attempts beyond the first. 0 to 100.
  int max_retry = 3;
  // Null: RetryPolicy::Default().
  std::shared_ptr<const RetryPolicy> retry_policy;
  // Retries and backup requests, as a share of calls over about ten seconds: what keeps a failing
  // service from being drowned in retries. Ten a second are always free. 0 to 10.
  double retry_budget = 0.2;
  // A server that cannot be reached is tried again by connecting to it, after this pause, which
  // doubles up to the longest. Milliseconds, 1 to 3,600,000.
  int64_t health_check_interval_ms = 100;
  int64_t longest_health_check_interval_ms = 10'000;
  // A server that comes back, or is new among others, gets its share of calls slowly over
  // this time. Milliseconds; 0: at once. At most 3,600,000.
  int64_t slow_start_ms = 2000;
  CircuitBreakerOptions circuit_breaker;

  // --- Servers and connections.

  // For targets with several servers: "rr" (round robin), "random", "wrr" and "wr" (the same by
  // weight), "c_hash" (consistent hash of Controller::set_request_code; brpc's names c_murmurhash,
  // c_md5 and c_ketama mean the same here), "la" (latency: the better of two at random).
  std::string load_balancer = "rr";
  ConnectionType connection_type = CONNECTION_TYPE_SINGLE;
  // With CONNECTION_TYPE_SINGLE a call takes a pooled connection if the attachment of its request,
  // or the memory set for that of its response, has at least so many bytes, so that small calls do
  // not wait behind it. 0: none does. A Controller's connection type decides before this.
  size_t pooled_from_bytes = 0;
  // CONNECTION_TYPE_POOLED and _SHORT: connections to one server at once; beyond, calls
  // fail with EOVERCROWDED. 1 to 65,536.
  int max_connections_per_server = 1000;
  // A pooled connection that no call used for so long is closed. Milliseconds, 1 to 86,400,000; -1:
  // none. Below the server's idle_timeout_ms, so that no call meets the server's closing.
  int64_t pooled_idle_timeout_ms = 30'000;
  // How often file:// is looked at, and dns:// asked again where its answer names no shorter time.
  // Milliseconds, 10 to 86,400,000.
  int64_t naming_interval_ms = 5000;
  // Prefer RDMA; TCP carries the calls until it is set up and where it cannot be had, and
  // Controller::connection() tells the reason.
  bool use_rdma = false;
  // Calls fail rather than travel over TCP. Implies use_rdma.
  bool require_rdma = false;
  // With use_rdma: servers may be brpc with RDMA on. Who does not know our hello is asked with
  // brpc's, too; who closes at that as well is spoken to plainly, and remembered for a minute. Off,
  // since each of the three is a connection. Not with TLS, which brpc has only without RDMA.
  bool rdma_peers_may_be_brpc = false;
  // DSCP << 2, for switches: IP_TOS or IPV6_TCLASS of sockets, and the same on queue pairs. 0 to
  // 255; -1: as RuntimeOptions::traffic_class says.
  int traffic_class = -1;

  // --- The wire.

  // Of requests; a server answers in kind. A Controller may say otherwise.
  CompressType request_compress_type = COMPRESS_TYPE_NONE;
  ChecksumType request_checksum_type = CHECKSUM_TYPE_NONE;
  // Null: no credential is sent.
  std::shared_ptr<const Authenticator> auth;
  // Null: no TLS.
  std::shared_ptr<const ClientTlsOptions> tls;
  RdmaWithTls rdma_with_tls = RdmaWithTls::kRefuse;
  std::vector<std::shared_ptr<ClientInterceptor>> interceptors;

  // --- Limits.

  // Bytes of a response with its attachment, as it travels and when it is unpacked; a larger one
  // fails its call with ERESPONSE. 1 KiB to 4 GiB - 1.
  size_t max_body_size = size_t{64} << 20;
  // Bytes that wait to be sent on one connection; beyond, new calls fail with EOVERCROWDED. At
  // least 64 KiB. One call may go over it, however large it is.
  size_t max_backlog = size_t{64} << 20;
  // Calls that wait for an answer on one connection; beyond, new ones fail with EOVERCROWDED. 1 to
  // 1,000,000.
  int max_pending_calls = 100'000;

  absl::Status Validate() const;
};

}  // namespace farcall

#endif  // FARCALL_RPC_CHANNEL_OPTIONS_H_
