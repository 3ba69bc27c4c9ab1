// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_SESSION_ROLL_H_
#define FARCALL_RPC_SESSION_SESSION_ROLL_H_

#include <memory>
#include <mutex>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "transport/loop/event_loop.h"

namespace farcall {

class ClientSession;

// The client sessions of a runtime, for who asks what there is. Any thread; a lock for each
// session that begins or ends. Outlives them.
class SessionRoll {
 public:
  // A session is on it as long as this lives. `roll` null: nobody asks.
  class Entry {
   public:
    Entry(SessionRoll* roll, ClientSession& session);
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    ~Entry();

   private:
    SessionRoll* const roll_;
    ClientSession& session_;
  };

  // Those that belong to `loop`, in no order. With it held, and let go of with it held, as they
  // are touched.
  std::vector<std::shared_ptr<ClientSession>> Of(const EventLoop& loop) const;

 private:
  mutable std::mutex mutex_;
  absl::flat_hash_set<ClientSession*> sessions_;  // guarded by mutex_
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_SESSION_ROLL_H_
