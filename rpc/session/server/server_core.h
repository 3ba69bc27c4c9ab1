// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_SERVER_SERVER_CORE_H_
#define FARCALL_RPC_SESSION_SERVER_SERVER_CORE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/descriptor.h"
#include "rpc/authenticator.h"
#include "rpc/dispatch/concurrency_limit.h"
#include "rpc/dispatch/handler_pool.h"
#include "rpc/dispatch/line_limit.h"
#include "rpc/dispatch/service_map.h"
#include "rpc/options.h"
#include "rpc/runtime_parts.h"
#include "rpc/session/server/limits/memory_holders.h"
#include "rpc/stats/stats_sampler.h"
#include "transport/base/threads/in_flight.h"
#include "transport/base/threads/in_flight_by_part.h"

namespace farcall {

class ServerFrameCall;
class ServerProtocol;
class ServerSession;
template <typename T>
class ChunkPool;

// What happened beside the calls that were run, which MethodStats count. Any thread.
struct ServerCounters {
  std::atomic<uint64_t> accepted{0};              // connections
  std::atomic<uint64_t> over_max_connections{0};  // and closed at once
  // Connections closed by the idle and read timeouts, or because they held the most memory.
  std::atomic<uint64_t> timed_out{0};
  std::atomic<uint64_t> bad_peers{0};       // connections closed for what the peer sent
  std::atomic<uint64_t> refused_logoff{0};  // requests: the server was stopping
  std::atomic<uint64_t> refused_limit{0};   // requests: a max_concurrency was reached
  std::atomic<uint64_t> not_found{0};       // requests: no such service or method
  std::atomic<uint64_t> auth_failed{0};
  std::atomic<uint64_t> late{0};            // requests whose time was over before they ran
  std::atomic<uint64_t> long_handlers{0};   // that ran for long where their requests were read
  std::atomic<uint64_t> lines_left_out{0};  // of the log, about peers
};

// What the connections and calls of one server share. Outlives the Server as long as a
// handler keeps a closure that it has not run. Any thread.
struct ServerCore {
  ServerCore();
  ~ServerCore();

  RuntimeParts parts;
  ServerOptions options;
  ServiceMap services;
  // Null: all run where they were read. Its threads end with the Server.
  std::unique_ptr<HandlerPool> handlers;
  // For connections that do not begin as baidu_std; null: they are closed. Set before the
  // first connection; with the session's loop held.
  std::function<std::unique_ptr<ServerProtocol>(ServerSession&)> http;
  TimePoint started{};

  // Requests that were admitted and not answered; those whose handler has not returned, or
  // not begun.
  InFlightByPart unanswered;
  InFlightByPart running;
  InFlight connections;
  InFlight pages;  // of HTTP, that are being made
  InFlight stops;  // Server::Stop that runs
  std::atomic<bool> stopping{false};
  // Stop waits for no call any more: no handler begins, and no page.
  std::atomic<bool> calls_over{false};
  ConcurrencyLimit limit;
  ServerCounters counters;
  StatsSampler sampler;                                           // of the methods of `services`
  const std::unique_ptr<ChunkPool<ServerFrameCall>> frame_calls;  // memory of those that ended

  // False: the server has closed its connections, or has max_connections of them.
  bool Add(const std::shared_ptr<ServerSession>& session);
  void Remove(const std::shared_ptr<ServerSession>& session);
  // All sessions, and none is added afterwards.
  std::vector<std::shared_ptr<ServerSession>> TakeAll();
  // All sessions: for a look at each with its loop held.
  std::vector<std::shared_ptr<ServerSession>> Sessions();

  // Asks options.auth, which there is; with a loop held. Who fails is counted.
  absl::StatusOr<AuthContext> Verify(absl::string_view credential, const Address& client);
  // `session`, whose loop is held, holds so many bytes for its peer (at least
  // MemoryHolders::kMuch), and so many came and left since its last report. When the pool has
  // none left for others, the one that holds most is closed.
  void ReportHeld(ServerSession& session, size_t bytes, uint64_t moved);
  void ForgetHeld(ServerSession& session);

  // A line about a peer: peers, who can do what makes one, get a few a second, all together.
  void LogPeer(absl::string_view line);
  // So many wait for a handler thread, with a request of `method`. Many are logged now and then.
  void LogWaiting(const google::protobuf::MethodDescriptor& method, size_t waiting);

 private:
  std::mutex mutex_;
  // Guarded by mutex_.
  bool closed_ = false;  // no session is added any more
  bool full_ = false;    // and that was logged
  absl::flat_hash_set<std::shared_ptr<ServerSession>> sessions_;
  MemoryHolders holders_;  // of sessions_

  std::mutex line_mutex_;
  // Guarded by line_mutex_.
  LineLimit lines_;
  TimePoint next_waiting_log_{};  // not before
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_SERVER_SERVER_CORE_H_
