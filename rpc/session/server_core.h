// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_SERVER_CORE_H_
#define FARCALL_RPC_SESSION_SERVER_CORE_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "rpc/dispatch/handler_pool.h"
#include "rpc/dispatch/in_flight.h"
#include "rpc/dispatch/service_map.h"
#include "rpc/options.h"
#include "rpc/runtime_parts.h"

namespace farcall {

class ServerSession;

// What the connections and calls of one server share. Outlives the Server as long as a
// handler keeps a closure that it has not run. Any thread.
struct ServerCore {
  RuntimeParts parts;
  ServerOptions options;
  ServiceMap services;
  std::unique_ptr<HandlerPool> handlers;  // null: inline

  // Requests that were admitted and not answered; those whose handler has not returned, or
  // not begun.
  InFlight unanswered;
  InFlight running;
  InFlight connections;
  std::atomic<bool> stopping{false};

  std::mutex mutex;
  // Guarded by mutex.
  bool closed = false;  // no session is added any more
  absl::flat_hash_set<std::shared_ptr<ServerSession>> sessions;

  // False: the server has closed its connections.
  bool Add(const std::shared_ptr<ServerSession>& session) {
    std::lock_guard<std::mutex> lock(mutex);
    if (closed) return false;
    sessions.insert(session);
    connections.Begin();
    return true;
  }
  void Remove(const std::shared_ptr<ServerSession>& session) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      sessions.erase(session);
    }
    connections.End();
  }
  // All sessions, and none is added afterwards.
  std::vector<std::shared_ptr<ServerSession>> TakeAll() {
    std::lock_guard<std::mutex> lock(mutex);
    closed = true;
    return {sessions.begin(), sessions.end()};
  }
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_SERVER_CORE_H_
