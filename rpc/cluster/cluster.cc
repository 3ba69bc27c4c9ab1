// SPDX-License-Identifier: Apache-2.0

#include "rpc/cluster/cluster.h"

#include <cerrno>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "rpc/errors.h"
#include "transport/base/check.h"

namespace farcall {
namespace {

// Of what is chosen at random: no two clusters begin in the same nanosecond, and those of a
// simulation begin when its seed says.
uint64_t Seed(const Clock& clock) {
  return static_cast<uint64_t>(clock.Now().time_since_epoch().count());
}

}  // namespace

std::shared_ptr<Cluster> Cluster::Create(std::shared_ptr<const Environment> environment,
                                         EventLoop& loop, absl::string_view target) {
  auto cluster = std::make_shared<Cluster>(std::move(environment), loop, target);
  loop.RunOrPost([cluster] {
    Cluster& self = *cluster;
    if (self.retired_) return;
    self.self_ = cluster;
    const auto interval = std::chrono::milliseconds(self.environment_->options.naming_interval_ms);
    self.naming_ = Naming::Start(self.environment_->parts, self.loop_, self.target_, interval,
                                 [raw = cluster.get()](absl::StatusOr<Naming::Nodes> nodes) {
                                   raw->OnNodes(std::move(nodes));
                                 });
  });
  return cluster;
}

Cluster::Cluster(std::shared_ptr<const Environment> environment, EventLoop& loop,
                 absl::string_view target)
    : counted_(environment->parts.sessions),
      environment_(std::move(environment)),
      loop_(loop),
      target_(target),
      servers_(environment_->options, Seed(*environment_->parts.clock)),
      budget_(environment_->options.retry_budget),
      alarm_timer_([this] { OnAlarms(); }),
      probe_timer_([this] { Probe(); }) {}

Cluster::~Cluster() {
  Check(calls_ == 0 && naming_ == nullptr, "a cluster is done before it dies");
}

void Cluster::Cancel(uint64_t call_id) {
  // The call is the parent's.
  if (!loop_.process().here()) return;
  loop_.RunOrPost([self = Self(), call_id] {
    if (RoutedCall* const listed = self->Find(call_id); listed != nullptr) return listed->Cancel();
    if (SessionCall* const call = self->FindAttempt(call_id); call != nullptr) call->Cancel();
  });
}

// By its id, on one of the connections that calls share.
SessionCall* Cluster::FindAttempt(uint64_t call_id) {
  for (const auto& [id, connections] : connections_) {
    if (connections->shared() == nullptr) continue;
    SessionCall* const call = connections->shared()->Find(call_id);
    if (call != nullptr) return call;
  }
  for (const std::weak_ptr<ClientSession>& left : left_) {
    const std::shared_ptr<ClientSession> session = left.lock();
    SessionCall* const call = session == nullptr ? nullptr : session->Find(call_id);
    if (call != nullptr) return call;
  }
  return nullptr;
}

void Cluster::Remember(const std::shared_ptr<ClientSession>& session) {
  if (session == nullptr || session->calls() == 0) return;
  std::erase_if(left_, [](const auto& one) { return one.expired(); });
  left_.push_back(session);
}

RoutedCall* Cluster::Find(uint64_t call_id) {
  const auto found = listed_.find(call_id);
  return found == listed_.end() ? nullptr : found->second;
}

void Cluster::Start(RoutedCall& call, absl::string_view head, Buffer&& rest) {
  ++calls_;
  if (call.synchronous()) {
    loop_.CallerWaits();
  } else if (closures_++ == 0) {
    loop_.NeedThread(+1);
  }
  budget_.OnCall(loop_.now());
  if (unplaced_.size() >= static_cast<size_t>(options().max_pending_calls)) [[unlikely]]
    return FailOvercrowded(call);
  call.Begin(*this, head, std::move(rest));
}

void Cluster::FailOvercrowded(RoutedCall& call) {
  call.Fail(kOvercrowded, absl::StrCat(unplaced_.size(), " calls wait for the names behind ",
                                       target_, " already (max_pending_calls)"));
  OnCallEnd(call);
}

void Cluster::OnCallEnd(RoutedCall& call) {
  if (!listed_.empty()) listed_.erase(call.id());
  if (!unplaced_.empty()) unplaced_.erase(call.id());
  --calls_;
  if (!call.synchronous() && --closures_ == 0) loop_.NeedThread(-1);
  call.Complete(loop_);
  LetGoIfDone();
}

bool Cluster::NamesKnown(RoutedCall& call) {
  if (names_known_) [[likely]]
    return true;
  unplaced_.insert(call.id());
  return false;
}

std::string Cluster::WhyNoNames() const {
  return absl::StrCat("the names of the target are not known yet",
                      no_names_why_.empty() ? "" : ": ", no_names_why_);
}

void Cluster::OnNodes(absl::StatusOr<Naming::Nodes> nodes) {
  if (!nodes.ok()) {
    // What was known before stays. Calls that wait for names would wait in vain.
    if (!names_known_) no_names_why_ = std::string(nodes.status().message());
    return WakeCalls();
  }
  names_known_ = true;
  no_names_why_.clear();
  const ServerSet::Change change = servers_.Update(*std::move(nodes), loop_.now());
  for (const ServerSet::ServerId id : change.removed) {
    Remember(connections_.at(id)->shared());
    connections_.erase(id);
    last_ = {};
  }
  for (const ServerSet::Server& server : change.added) {
    connections_.emplace(server.id,
                         std::make_unique<ServerConnections>(environment_, loop_, server, *this));
  }
  ArmProbe();
  WakeCalls();
}

void Cluster::WakeCalls() {
  const std::shared_ptr<Cluster> alive = Self();
  const absl::Status why = names_known_ ? absl::OkStatus() : absl::UnavailableError(no_names_why_);
  for (const uint64_t id : std::exchange(unplaced_, {})) {
    if (RoutedCall* const call = Find(id); call != nullptr) call->OnNames(why);
  }
}

Cluster::Choice Cluster::Choose(const RoutedCall::Plan& plan,
                                std::span<const ServerSet::ServerId> tried) {
  Choice choice;
  const auto server = servers_.Pick(plan.request_code, tried, loop_.now());
  if (!server) {
    choice.code = EHOSTDOWN;
    return choice;
  }
  choice.server = *server;
  // Most calls go where the one before went.
  if (*server != last_.id) last_ = {*server, connections_.at(*server).get()};
  choice.session = last_.connections->Take(plan.connection_type);
  if (choice.session == nullptr) {
    choice.code = kOvercrowded;
    return choice;
  }
  servers_.OnStart(*server);
  return choice;
}

std::string Cluster::WhyNone(const Choice& choice) const {
  if (choice.code == EHOSTDOWN) return absl::StrCat("there is no server behind ", target_);
  return absl::StrCat(options().max_connections_per_server, " connections to ",
                      connections_.at(choice.server)->target().text,
                      " are in use already (max_connections_per_server)");
}

void Cluster::GiveBack(ServerSet::ServerId server, const std::shared_ptr<ClientSession>& session,
                       ConnectionType type, bool reusable) {
  const auto found = connections_.find(server);
  if (found != connections_.end()) found->second->GiveBack(type, session, reusable);
}

void Cluster::OnLogoff(ServerSet::ServerId server, const std::shared_ptr<ClientSession>& session) {
  const auto found = connections_.find(server);
  if (found != connections_.end()) {
    const std::shared_ptr<ClientSession> shared = found->second->shared();
    // Others said it before, and what there is now is newer.
    if (!found->second->Leave(session)) return;
    Remember(shared);
  }
  // The connection of a probe that was under way has been left, too.
  servers_.OnProbe(server, /*ok=*/false, loop_.now());
  servers_.OnLeaving(server, loop_.now());
  if (naming_ != nullptr) naming_->Refresh();
  ArmProbe();
}

void Cluster::OnReachable(ServerSet::ServerId server) {
  servers_.OnProbe(server, /*ok=*/true, loop_.now());
  ArmProbe();
}

void Cluster::OnUnreachable(ServerSet::ServerId server) {
  servers_.OnProbe(server, /*ok=*/false, loop_.now());
  servers_.OnUnreachable(server, loop_.now());
  if (naming_ != nullptr) naming_->Refresh();
  ArmProbe();
}

void Cluster::SetAlarm(TimePoint when, uint64_t call_id) {
  alarms_.emplace(when, call_id);
  // It may ring early, when the first alarm was taken back.
  loop_.SetTimerBy(alarm_timer_, when);
}

void Cluster::OnAlarms() {
  const std::shared_ptr<Cluster> alive = Self();
  std::vector<uint64_t> due;
  for (auto first = alarms_.begin(); first != alarms_.end() && first->first <= loop_.now();) {
    due.push_back(first->second);
    first = alarms_.erase(first);
  }
  for (const uint64_t id : due) {
    if (RoutedCall* const call = Find(id); call != nullptr) call->OnAlarm();
  }
  if (!alarms_.empty()) loop_.SetTimer(alarm_timer_, alarms_.begin()->first);
}

void Cluster::Probe() {
  for (const ServerSet::ServerId server : servers_.DueProbes(loop_.now())) {
    const auto found = connections_.find(server);
    if (found != connections_.end()) Remember(found->second->Probe());
  }
  ArmProbe();
}

void Cluster::ArmProbe() {
  const std::optional<TimePoint> next = servers_.next_event();
  // A single server is tried by the calls themselves.
  if (!next || retired_ || servers_.size() < 2) return loop_.CancelTimer(probe_timer_);
  loop_.SetTimer(probe_timer_, *next);
}

void Cluster::Retire() {
  retired_ = true;
  LetGoIfDone();
}

// After a change. Nothing of the cluster may be touched afterwards, unless somebody holds it.
void Cluster::LetGoIfDone() {
  if (!retired_ || calls_ > 0) return;
  naming_ = nullptr;
  connections_.clear();
  last_ = {};
  loop_.CancelTimer(probe_timer_);
  loop_.CancelTimer(alarm_timer_);
  self_.reset();
}

}  // namespace farcall
