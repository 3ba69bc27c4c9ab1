// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/session_roll.h"

#include <utility>

#include "rpc/session/client_session.h"

namespace farcall {

SessionRoll::Entry::Entry(SessionRoll* roll, ClientSession& session)
    : roll_(roll), session_(session) {
  if (roll_ == nullptr) return;
  const std::lock_guard<std::mutex> lock(roll_->mutex_);
  roll_->sessions_.insert(&session_);
}

SessionRoll::Entry::~Entry() {
  if (roll_ == nullptr) return;
  const std::lock_guard<std::mutex> lock(roll_->mutex_);
  roll_->sessions_.erase(&session_);
}

std::vector<std::shared_ptr<ClientSession>> SessionRoll::Of(const EventLoop& loop) const {
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
