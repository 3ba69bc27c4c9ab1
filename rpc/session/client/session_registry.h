// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_CLIENT_SESSION_REGISTRY_H_
#define FARCALL_RPC_SESSION_CLIENT_SESSION_REGISTRY_H_

#include <memory>
#include <mutex>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "transport/loop/event_loop.h"

namespace farcall {

class ClientSession;

// Lists the client sessions of a runtime, for status. Any thread; takes a lock when a session
// begins or ends. Outlives them.
class SessionRegistry {
 public:
  // A session is listed as long as this lives. `registry` null: it is not.
  class Entry {
   public:
    Entry(SessionRegistry* registry, ClientSession& session);
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    ~Entry();

   private:
    SessionRegistry* const registry_;
    ClientSession& session_;
  };

  // Those that belong to `loop`, in no order. With the loop held, also when they are released.
  std::vector<std::shared_ptr<ClientSession>> Of(const EventLoop& loop) const;

 private:
  mutable std::mutex mutex_;
  absl::flat_hash_set<ClientSession*> sessions_;  // guarded by mutex_
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_CLIENT_SESSION_REGISTRY_H_
