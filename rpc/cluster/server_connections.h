// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CLUSTER_SERVER_CONNECTIONS_H_
#define FARCALL_RPC_CLUSTER_SERVER_CONNECTIONS_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "rpc/cluster/server_set.h"
#include "rpc/session/client/client_session.h"
#include "rpc/session/client/connect_gate.h"
#include "rpc/session/client/relink_pace.h"
#include "rpc/types.h"
#include "transport/base/time.h"
#include "transport/loop/event_loop.h"

namespace farcall {

class Cluster;

// The connections of a channel to one server, shared as each call's ConnectionType says. With
// the loop held.
//
// Where RDMA is preferred, plain connections are replaced by one that is linked, as soon as there
// is one: it is asked for at a slow pace. Calls on a plain one go on to their ends.
class ServerConnections final : public SessionObserver {
 public:
  using Session = std::shared_ptr<ClientSession>;

  // `cluster` outlives this, and is notified whether the server can be reached.
  ServerConnections(std::shared_ptr<const ClientSession::Environment> environment, EventLoop& loop,
                    const ServerSet::Server& server, Cluster& cluster);
  ServerConnections(const ServerConnections&) = delete;
  ServerConnections& operator=(const ServerConnections&) = delete;
  // Retires its sessions: calls on them go on to their ends.
  ~ServerConnections();

  const Target& target() const { return target_; }

  // The session for an attempt, which gives it back when it has ended. Null:
  // max_connections_per_server are in use.
  Session Take(ConnectionType type) {
    return type == CONNECTION_TYPE_SINGLE && shared_ != nullptr ? shared_ : TakeOther(type);
  }
  // `reusable`: no request is under way on it whose call has ended.
  void GiveBack(ConnectionType type, const Session& session, bool reusable);
  // The server stops, says a connection to it: what comes next needs new ones. False: that was
  // known of this connection, and others have been made since.
  bool Leave(const Session& session);
  // The session that calls of CONNECTION_TYPE_SINGLE share; null before the first.
  const Session& shared() const { return shared_; }
  // Makes a connection now; the cluster is notified whether the server can be reached. Returns the
  // shared session that it replaces, if any: calls on it go on to their ends.
  Session Probe();

  void OnReachable() override;
  void OnUnreachable(const absl::Status& why) override;

 private:
  struct Idle {
    Session session;
    TimePoint since;
  };
  // Of the session that is to replace plain ones. How it fails says nothing of the server.
  struct RelinkObserver final : SessionObserver {
    explicit RelinkObserver(ServerConnections& connections) : owner(connections) {}
    void OnReachable() override { owner.OnLinked(); }
    void OnUnreachable(const absl::Status& why) override { owner.OnNotLinked(why); }
    ServerConnections& owner;
  };

  Session TakeOther(ConnectionType type);
  Session Make();
  std::optional<WhyNotRdma> Plain() const;
  void RelinkLater();
  void Relink();
  void OnLinked();
  void OnNotLinked(const absl::Status& why);
  void LeavePlain();
  bool HasRoom();
  void ForgetEnded();
  bool GiveUpAnIdleOne();
  void Keep(const Session& session);
  void Retire(const Session& session);
  void OnIdleTimer();

  const std::shared_ptr<const ClientSession::Environment> environment_;
  EventLoop& loop_;
  const ServerSet::ServerId id_;
  const Target target_;
  Cluster& cluster_;
  const std::shared_ptr<ConnectGate> gate_;
  Session shared_;
  std::vector<Idle> idle_;        // pooled, each without a call; the last one is the warmest
  std::vector<Session> taken_;    // pooled and short, each with a call
  std::vector<Session> leaving_;  // the same, from before the server said that it stops
  std::vector<std::weak_ptr<ClientSession>> ending_;  // retired while they connected
  Timer idle_timer_;  // pending while there are idle ones; may fire early
  RelinkObserver relink_observer_{*this};
  Session relinking_;  // null: none is being made
  RelinkPace relink_pace_;
  Timer relink_timer_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_CLUSTER_SERVER_CONNECTIONS_H_
