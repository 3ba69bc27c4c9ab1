// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CLUSTER_CLUSTER_H_
#define FARCALL_RPC_CLUSTER_CLUSTER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "rpc/cluster/retry_budget.h"
#include "rpc/cluster/routed_call.h"
#include "rpc/cluster/server_connections.h"
#include "rpc/cluster/server_set.h"
#include "rpc/controller.h"
#include "rpc/naming/naming.h"
#include "rpc/session/client/client_session.h"
#include "transport/base/threads/in_flight.h"
#include "transport/loop/event_loop.h"

namespace farcall {

// The servers of a channel as one loop sees them: which there are, the connections to them, and
// the calls under way. All but loop(), NextCallId() and Cancel() with the loop held.
//
// Lives until it is retired and its last call has ended, whoever else lets go of it.
class Cluster final : public Cancellable {
 public:
  using Environment = ClientSession::Environment;

  // `target` passes Naming::Check. No loop held; connects with the first call.
  static std::shared_ptr<Cluster> Create(std::shared_ptr<const Environment> environment,
                                         EventLoop& loop, absl::string_view target);
  Cluster(std::shared_ptr<const Environment> environment, EventLoop& loop,
          absl::string_view target);
  ~Cluster() override;

  EventLoop& loop() { return loop_; }
  // Never 0: some peers answer what they cannot read with 0.
  uint64_t NextCallId() { return last_call_id_.fetch_add(1, std::memory_order_relaxed) + 1; }
  // Ends that call with ECANCELED if it is under way. Any thread.
  void Cancel(uint64_t call_id) override;

  // Sends a frame as RoutedCall::Begin says, and completes `call`, which has its plan, in every
  // case.
  void Start(RoutedCall& call, absl::string_view head, Buffer&& rest);
  // No call will be started any more.
  void Retire();

  std::vector<ServerSet::View> Views() const { return servers_.Views(loop_.now()); }

  // --- Of RoutedCall.

  struct Choice {
    ServerSet::ServerId server = 0;
    std::shared_ptr<ClientSession> session;
    int code = 0;  // of an error: no server, or none with a connection to spare
  };
  // False: the names are not known yet; `call` is notified when they are.
  bool NamesKnown(RoutedCall& call);
  // Before they are known; for people.
  std::string WhyNoNames() const;
  Choice Choose(const RoutedCall::Plan& plan, std::span<const ServerSet::ServerId> tried);
  // What the error of a choice just made is, for people.
  std::string WhyNone(const Choice& choice) const;
  // An attempt ended that Choose gave a server for.
  void OnAttemptEnd(ServerSet::ServerId server, ServerSet::Outcome outcome, Duration latency) {
    servers_.OnEnd(server, outcome, latency, loop_.now());
  }
  // And its session, which was not the shared one.
  void GiveBack(ServerSet::ServerId server, const std::shared_ptr<ClientSession>& session,
                ConnectionType type, bool reusable);
  // The server answered that it stops.
  void OnLogoff(ServerSet::ServerId server, const std::shared_ptr<ClientSession>& session);
  bool TakeRetry() { return budget_.Take(loop_.now()); }
  // What the last TakeRetry, just now, gave is not sent.
  void GiveBackRetry() { budget_.GiveBack(); }
  // Cancel finds the call, which is in no table of a shared connection under its own id.
  void List(RoutedCall& call) { listed_.insert_or_assign(call.id(), &call); }
  // RoutedCall::OnAlarm is called at `when`, for a call that is listed.
  void SetAlarm(TimePoint when, uint64_t call_id);
  void CancelAlarm(TimePoint when, uint64_t call_id) { alarms_.erase({when, call_id}); }
  bool AnyUntried(std::span<const ServerSet::ServerId> tried) const {
    return servers_.AnyUntried(tried);
  }
  const ChannelOptions& options() const { return environment_->options; }
  // The call has left nothing behind; completes it.
  void OnCallEnd(RoutedCall& call);

  // Of its ServerConnections: whether a server can be reached.
  void OnReachable(ServerSet::ServerId server);
  void OnUnreachable(ServerSet::ServerId server);
  // A session that calls shared, or null, takes no new ones. Those on it go on to their ends, and
  // may be cancelled until then.
  void Remember(const std::shared_ptr<ClientSession>& session);

 private:
  std::shared_ptr<Cluster> Self() { return std::static_pointer_cast<Cluster>(shared_from_this()); }
  void FailOvercrowded(RoutedCall& call);
  void OnNodes(absl::StatusOr<Naming::Nodes> nodes);
  void WakeCalls();
  RoutedCall* Find(uint64_t call_id);
  SessionCall* FindAttempt(uint64_t call_id);
  void OnAlarms();
  void Probe();
  void ArmProbe();
  void LetGoIfDone();

  const InFlightOne counted_;  // first, so that it ends when all else is gone
  const std::shared_ptr<const Environment> environment_;
  EventLoop& loop_;
  const std::string target_;
  std::atomic<uint64_t> last_call_id_{0};

  std::shared_ptr<Cluster> self_;  // until it is done
  std::unique_ptr<Naming> naming_;
  bool names_known_ = false;
  std::string no_names_why_;  // the last error, while no names are known
  ServerSet servers_;
  absl::flat_hash_map<ServerSet::ServerId, std::unique_ptr<ServerConnections>> connections_;
  struct {
    ServerSet::ServerId id = 0;  // no server's
    ServerConnections* connections = nullptr;
  } last_;  // of them, that was chosen; none after some are gone
  RetryBudget budget_;
  absl::flat_hash_map<uint64_t, RoutedCall*> listed_;
  absl::btree_set<uint64_t> unplaced_;  // calls that wait for names, the oldest first
  // Shared connections that take no new calls, with calls under way.
  std::vector<std::weak_ptr<ClientSession>> left_;
  absl::btree_set<std::pair<TimePoint, uint64_t>> alarms_;
  Timer alarm_timer_;
  size_t calls_ = 0;
  size_t closures_ = 0;  // calls with a closure: the loop needs its thread
  bool retired_ = false;
  Timer probe_timer_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_CLUSTER_CLUSTER_H_
