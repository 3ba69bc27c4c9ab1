// SPDX-License-Identifier: Apache-2.0

#include "transport/link/upgrade/server_upgrade_machine.h"

#include <algorithm>
#include <utility>

namespace farcall {

bool ServerUpgradeMachine::OnAsk(uint32_t generation) {
  if (!Step(ServerUpgradeState::kIdle, ServerUpgradeState::kPreparing)) return false;
  generation_ = generation;
  return true;
}

bool ServerUpgradeMachine::OnAdmitted() {
  if (!Step(ServerUpgradeState::kOffered, ServerUpgradeState::kReady)) return false;
  ready_.push_back(generation_);
  if (ready_.size() < rails_) state_ = ServerUpgradeState::kIdle;
  return true;
}

bool ServerUpgradeMachine::ready(uint32_t generation) const {
  return std::find(ready_.begin(), ready_.end(), generation) != ready_.end();
}

void ServerUpgradeMachine::OnLost(uint32_t generation) {
  // The only one dies with what comes after it.
  const uint32_t lost = rails_ == 1 && generation > generation_ ? generation_ : generation;
  const bool was_ready = std::erase(ready_, lost) > 0;
  const bool under_way = busy() && generation >= generation_;
  if (under_way || (was_ready && state_ == ServerUpgradeState::kReady)) {
    state_ = ServerUpgradeState::kIdle;
  }
}

}  // namespace farcall
