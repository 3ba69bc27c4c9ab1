// SPDX-License-Identifier: Apache-2.0

#include "transport/link/upgrade/server_upgrade_machine.h"

#include <algorithm>
#include <utility>

namespace farcall {

ServerUpgradeState Next(ServerUpgradeState state, ServerUpgradeEvent event) {
  using State = ServerUpgradeState;
  using Event = ServerUpgradeEvent;
  if (event == Event::kEnd) return State::kEnded;
  switch (state) {
    case State::kIdle:
      return event == Event::kAsk ? State::kPreparing : state;
    case State::kPreparing:
      if (event == Event::kOffered) return State::kOffered;
      return event == Event::kRefused || event == Event::kLost ? State::kIdle : state;
    case State::kOffered:
      if (event == Event::kAdmitted) return State::kReady;
      return event == Event::kLost ? State::kIdle : state;
    case State::kReady:
      return event == Event::kLost || event == Event::kMore ? State::kIdle : state;
    case State::kEnded:
      break;
  }
  return state;
}

bool ServerUpgradeMachine::OnAsk(uint32_t generation) {
  if (!Step(ServerUpgradeEvent::kAsk)) return false;
  generation_ = generation;
  return true;
}

bool ServerUpgradeMachine::OnOffered() { return Step(ServerUpgradeEvent::kOffered); }
bool ServerUpgradeMachine::OnRefused() { return Step(ServerUpgradeEvent::kRefused); }

bool ServerUpgradeMachine::OnAdmitted() {
  if (!Step(ServerUpgradeEvent::kAdmitted)) return false;
  ready_.push_back(generation_);
  if (ready_.size() < rails_) Step(ServerUpgradeEvent::kMore);
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
  if (under_way || (was_ready && state_ == ServerUpgradeState::kReady))
    Step(ServerUpgradeEvent::kLost);
}

void ServerUpgradeMachine::OnEnd() { Step(ServerUpgradeEvent::kEnd); }

bool ServerUpgradeMachine::Step(ServerUpgradeEvent event) {
  const ServerUpgradeState before = std::exchange(state_, Next(state_, event));
  return state_ != before;
}

}  // namespace farcall
