// SPDX-License-Identifier: Apache-2.0

#include "rpc/cluster/server_connections.h"

#include <algorithm>
#include <utility>

#include "transport/base/check.h"

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
                                     ServerWatcher& watcher)
    : environment_(std::move(environment)),
      loop_(loop),
      id_(server.id),
      target_(TargetOf(server.node)),
      watcher_(watcher) {}

ServerConnections::~ServerConnections() {
  if (shared_ != nullptr) shared_->Retire();
  for (const Session& session : idle_) session->Retire();
  for (const Session& session : taken_) session->Retire();
}

ServerConnections::Session ServerConnections::Make() {
  return std::make_shared<ClientSession>(environment_, loop_, target_, this);
}

ServerConnections::Session ServerConnections::Take(ConnectionType type) {
  if (type == CONNECTION_TYPE_SINGLE) {
    if (shared_ == nullptr) shared_ = Make();
    return shared_;
  }
  const auto limit = static_cast<size_t>(environment_->options.max_connections_per_server);
  Session session;
  if (type == CONNECTION_TYPE_POOLED && !idle_.empty()) {
    session = std::move(idle_.back());
    idle_.pop_back();
  } else if (idle_.size() + taken_.size() < limit) {
    session = Make();
  } else if (!idle_.empty()) {
    // A short connection takes the place of one that nobody uses.
    idle_.front()->Retire();
    idle_.erase(idle_.begin());
    session = Make();
  } else {
    return nullptr;
  }
  taken_.push_back(session);
  return session;
}

void ServerConnections::GiveBack(ConnectionType type, const Session& session, bool reusable) {
  if (type == CONNECTION_TYPE_SINGLE || !Erase(taken_, session)) return;
  if (type == CONNECTION_TYPE_POOLED && reusable) {
    idle_.push_back(session);
  } else {
    session->Retire();
  }
}

void ServerConnections::Leave(const Session& session) {
  static_cast<void>(Erase(taken_, session));
  session->Retire();
  // The others go to the same server, or to the same one behind a name.
  if (shared_ != nullptr) std::exchange(shared_, nullptr)->Retire();
  for (const Session& idle : std::exchange(idle_, {})) idle->Retire();
}

void ServerConnections::Probe() {
  if (shared_ == nullptr) shared_ = Make();
  shared_->Probe();
}

}  // namespace farcall
