// SPDX-License-Identifier: Apache-2.0

#include "rpc/cluster/server_connections.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "rpc/cluster/cluster.h"
#include "transport/base/check.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

Target TargetOf(const ServerNode& node) {
  // A name is resolved anew for each connection; an address stands for itself.
  const bool named = node.address.family() == AddressFamily::kNone;
  absl::StatusOr<Target> target = Target::Parse(named ? node.host : node.address.ToString());
  Check(target.ok(), "naming gives addresses and names that are sound");
  // For TLS: whom the certificate must name.
  if (const auto name = Target::Parse(node.host); name.ok()) target->host = name->host;
  return *std::move(target);
}

// Whether `session` was among them.
bool Erase(std::vector<ServerConnections::Session>& sessions,
           const ServerConnections::Session& session) {
  const auto found = std::find(sessions.begin(), sessions.end(), session);
  if (found == sessions.end()) return false;
  std::swap(*found, sessions.back());
  sessions.pop_back();
  return true;
}

}  // namespace

ServerConnections::ServerConnections(std::shared_ptr<const ClientSession::Environment> environment,
                                     EventLoop& loop, const ServerSet::Server& server,
                                     Cluster& cluster)
    : environment_(std::move(environment)),
      loop_(loop),
      id_(server.id),
      target_(TargetOf(server.node)),
      cluster_(cluster),
      gate_(std::make_shared<ConnectGate>()),
      idle_timer_([this] { OnIdleTimer(); }),
      relink_pace_(static_cast<uint64_t>(loop.now().time_since_epoch().count())),
      relink_timer_([this] { Relink(); }) {}

ServerConnections::~ServerConnections() {
  loop_.CancelTimer(idle_timer_);
  loop_.CancelTimer(relink_timer_);
  if (relinking_ != nullptr) relinking_->Retire();
  if (shared_ != nullptr) shared_->Retire();
  for (const Idle& idle : idle_) idle.session->Retire();
  for (const Session& session : taken_) session->Retire();
  for (const Session& session : leaving_) session->Retire();
}

ServerConnections::Session ServerConnections::Make() {
  return std::make_shared<ClientSession>(environment_, loop_, target_, this, gate_);
}

// For one more connection. Attempts that are not needed any more count until they end.
bool ServerConnections::HasRoom() {
  const auto limit = static_cast<size_t>(environment_->options.max_connections_per_server);
  const size_t used = idle_.size() + taken_.size() + leaving_.size();
  if (used + ending_.size() < limit) return true;
  ForgetEnded();
  return used + ending_.size() < limit;
}

// A session's memory goes with the last pointer to it, weak ones among them.
void ServerConnections::ForgetEnded() {
  std::erase_if(ending_, [](const auto& one) { return one.expired(); });
}

// The coldest, for a short connection that takes its place.
bool ServerConnections::GiveUpAnIdleOne() {
  const auto found = std::find_if(idle_.begin(), idle_.end(),
                                  [](const Idle& idle) { return !idle.session->connecting(); });
  if (found == idle_.end()) return false;
  found->session->Retire();
  idle_.erase(found);
  return true;
}

// Any but the shared one, which comes here only to be made.
ServerConnections::Session ServerConnections::TakeOther(ConnectionType type) {
  if (type == CONNECTION_TYPE_SINGLE) return shared_ = Make();
  Session session;
  if (type == CONNECTION_TYPE_POOLED && !idle_.empty()) {
    // The others are not connected yet, or their connection broke.
    auto warmest = std::find_if(idle_.rbegin(), idle_.rend(),
                                [](const Idle& idle) { return idle.session->connected(); });
    if (warmest == idle_.rend()) warmest = idle_.rbegin();
    session = std::move(warmest->session);
    idle_.erase(std::next(warmest).base());
  } else if (HasRoom() || GiveUpAnIdleOne()) {
    session = Make();
  } else {
    return nullptr;
  }
  taken_.push_back(session);
  return session;
}

void ServerConnections::GiveBack(ConnectionType type, const Session& session, bool reusable) {
  if (type == CONNECTION_TYPE_SINGLE) return;
  if (Erase(leaving_, session)) return Retire(session);
  if (!Erase(taken_, session)) return;
  // On one that still connects nothing was sent, and the next call need not begin a new attempt.
  const bool ready = reusable && session->connected();
  if (type == CONNECTION_TYPE_POOLED && (ready || session->connecting())) {
    Keep(session);
  } else {
    Retire(session);
  }
}

void ServerConnections::Keep(const Session& session) {
  idle_.push_back({session, loop_.now()});
  const int64_t timeout_ms = environment_->options.pooled_idle_timeout_ms;
  if (timeout_ms < 0 || idle_timer_.pending()) return;
  loop_.SetTimer(idle_timer_, loop_.now() + std::chrono::milliseconds(timeout_ms));
}

void ServerConnections::Retire(const Session& session) {
  session->Retire();
  if (!session->connecting()) return;
  ForgetEnded();
  ending_.push_back(session);
}

void ServerConnections::OnIdleTimer() {
  const auto timeout = std::chrono::milliseconds(environment_->options.pooled_idle_timeout_ms);
  // The coldest stand first.
  const auto warm = std::find_if(idle_.begin(), idle_.end(), [&](const Idle& idle) {
    return loop_.now() < idle.since + timeout;
  });
  for (auto cold = idle_.begin(); cold != warm; ++cold) Retire(cold->session);
  idle_.erase(idle_.begin(), warm);
  if (!idle_.empty()) loop_.SetTimer(idle_timer_, idle_.front().since + timeout);
}

bool ServerConnections::Leave(const Session& session) {
  const bool known = Erase(taken_, session) || session == shared_;
  session->Retire();
  if (!known) {
    static_cast<void>(Erase(leaving_, session));
    return false;
  }
  // The others go to the same server, or to the same one behind a name.
  if (relinking_ != nullptr) Retire(std::exchange(relinking_, nullptr));
  if (shared_ != nullptr) std::exchange(shared_, nullptr)->Retire();
  for (const Idle& idle : std::exchange(idle_, {})) Retire(idle.session);
  // How they end says nothing of the server that comes next.
  for (const Session& one : taken_) one->Retire();
  leaving_.insert(leaving_.end(), taken_.begin(), taken_.end());
  taken_.clear();
  return true;
}

void ServerConnections::OnReachable() {
  RelinkLater();
  cluster_.OnReachable(id_);
}

void ServerConnections::OnUnreachable(const absl::Status&) { cluster_.OnUnreachable(id_); }

// Why one of those that calls may come to is plain, where that may pass.
std::optional<WhyNotRdma> ServerConnections::Plain() const {
  const auto passes = [](const Session& session) {
    return session->plain() && RelinkPace::MayPass(*session->plain());
  };
  if (shared_ != nullptr && passes(shared_)) return shared_->plain();
  for (const Session& session : taken_) {
    if (passes(session)) return session->plain();
  }
  for (const Idle& idle : idle_) {
    if (passes(idle.session)) return idle.session->plain();
  }
  return std::nullopt;
}

void ServerConnections::RelinkLater() {
  if (relink_timer_.pending() || relinking_ != nullptr) return;
  const std::optional<WhyNotRdma> why = Plain();
  if (!why) return;
  loop_.SetTimer(relink_timer_, loop_.now() + relink_pace_.Next(*why));
}

void ServerConnections::Relink() {
  const std::optional<WhyNotRdma> why = Plain();
  if (!why) return;
  if (!HasRoom() && !GiveUpAnIdleOne()) return RelinkLater();
  relinking_ =
      std::make_shared<ClientSession>(environment_, loop_, target_, &relink_observer_, gate_);
  relinking_->ConnectInsteadOf(*why);
}

void ServerConnections::OnNotLinked(const absl::Status& why) {
  std::exchange(relinking_, nullptr)->Retire();
  if (CarriesReason(why)) {
    if (shared_ != nullptr) shared_->StaysPlain(why);
    for (const Session& session : taken_) session->StaysPlain(why);
    for (const Idle& idle : idle_) idle.session->StaysPlain(why);
  }
  RelinkLater();
}

void ServerConnections::OnLinked() {
  const Session session = std::exchange(relinking_, nullptr);
  session->SetObserver(*this);
  relink_pace_.OnLinked();
  LeavePlain();
  if (shared_ != nullptr && shared_->plain()) {
    const Session left = std::exchange(shared_, session);
    left->Retire();
    cluster_.Remember(left);
  } else {
    Keep(session);
  }
  OnReachable();
}

// Of those that carry one call each: none is used for another.
void ServerConnections::LeavePlain() {
  const auto is_plain = [](const Session& session) { return session->plain().has_value(); };
  std::erase_if(idle_, [&](const Idle& idle) {
    if (!is_plain(idle.session)) return false;
    Retire(idle.session);
    return true;
  });
  std::erase_if(taken_, [&](const Session& session) {
    if (!is_plain(session)) return false;
    session->Retire();
    leaving_.push_back(session);
    return true;
  });
}

ServerConnections::Session ServerConnections::Probe() {
  // That an older connection has not broken proves nothing: the host may have lost its power.
  Session left;
  if (shared_ != nullptr && shared_->connected()) {
    left = std::exchange(shared_, nullptr);
    left->Retire();
  }
  if (shared_ == nullptr) shared_ = Make();
  shared_->Probe();
  return left;
}

}  // namespace farcall
