// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/client/session_registry.h"

#include <utility>

#include "rpc/session/client/client_session.h"

namespace farcall {

SessionRegistry::Entry::Entry(SessionRegistry* registry, ClientSession& session)
    : registry_(registry), session_(session) {
  if (registry_ == nullptr) return;
  const std::lock_guard<std::mutex> lock(registry_->mutex_);
  registry_->sessions_.insert(&session_);
}

SessionRegistry::Entry::~Entry() {
  if (registry_ == nullptr) return;
  const std::lock_guard<std::mutex> lock(registry_->mutex_);
  registry_->sessions_.erase(&session_);
}

std::vector<std::shared_ptr<ClientSession>> SessionRegistry::Of(const EventLoop& loop) const {
  std::vector<std::shared_ptr<ClientSession>> found;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (ClientSession* const session : sessions_) {
    if (&session->loop() != &loop) continue;
    // None: it is being destroyed, or not made yet.
    if (auto alive = session->weak_from_this().lock()) found.push_back(std::move(alive));
  }
  return found;
}

}  // namespace farcall
