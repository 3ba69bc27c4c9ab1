// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CLUSTER_SERVER_CONNECTIONS_H_
#define FARCALL_RPC_CLUSTER_SERVER_CONNECTIONS_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "rpc/cluster/server_set.h"
#include "rpc/session/client_session.h"
#include "rpc/types.h"

namespace farcall {

// Who is told how a server fares. With the loop held.
class ServerWatcher {
 public:
  virtual void OnReachable(ServerSet::ServerId server) = 0;
  virtual void OnUnreachable(ServerSet::ServerId server, const absl::Status& why) = 0;

 protected:
  ~ServerWatcher() = default;
};

// The connections of a channel to one server, shared as each call's ConnectionType says. With
// the loop held.
class ServerConnections final : public SessionObserver {
 public:
  using Session = std::shared_ptr<ClientSession>;

  // `watcher` outlives this.
  ServerConnections(std::shared_ptr<const ClientSession::Environment> environment, EventLoop& loop,
                    const ServerSet::Server& server, ServerWatcher& watcher);
  ServerConnections(const ServerConnections&) = delete;
  ServerConnections& operator=(const ServerConnections&) = delete;
  // Retires its sessions: calls on them go on to their ends.
  ~ServerConnections();

  const Target& target() const { return target_; }

  // The session for an attempt, which gives it back when it has ended. Null:
  // max_connections_per_server are in use.
  Session Take(ConnectionType type);
  // `reusable`: nothing is under way on it that nobody waits for.
  void GiveBack(ConnectionType type, const Session& session, bool reusable);
  // The server stops: what comes next needs new connections.
  void Leave(const Session& session);
  // The session that calls of CONNECTION_TYPE_SINGLE share; null before the first.
  const Session& shared() const { return shared_; }
  // The watcher is told whether the server can be reached.
  void Probe();

  void OnReachable() override { watcher_.OnReachable(id_); }
  void OnUnreachable(const absl::Status& why) override { watcher_.OnUnreachable(id_, why); }

 private:
  Session Make();

  const std::shared_ptr<const ClientSession::Environment> environment_;
  EventLoop& loop_;
  const ServerSet::ServerId id_;
  const Target target_;
  ServerWatcher& watcher_;
  Session shared_;
  std::vector<Session> idle_;   // pooled, each without a call; the last one is the warmest
  std::vector<Session> taken_;  // pooled and short, each with a call
};

}  // namespace farcall

#endif  // FARCALL_RPC_CLUSTER_SERVER_CONNECTIONS_H_
