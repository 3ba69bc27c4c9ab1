// SPDX-License-Identifier: Apache-2.0

#include "transport/link/upgrade/upgrade_server.h"

#include <utility>

namespace farcall {

ServerUpgrade Next(ServerUpgrade state, ServerUpgradeEvent event) {
  using State = ServerUpgrade;
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
      return event == Event::kLost ? State::kIdle : state;
    case State::kEnded:
      break;
  }
  return state;
}

bool UpgradeServer::OnAsk(uint32_t generation) {
  if (!Step(ServerUpgradeEvent::kAsk)) return false;
  generation_ = generation;
  return true;
}

bool UpgradeServer::OnOffered() { return Step(ServerUpgradeEvent::kOffered); }
bool UpgradeServer::OnRefused() { return Step(ServerUpgradeEvent::kRefused); }
bool UpgradeServer::OnAdmitted() { return Step(ServerUpgradeEvent::kAdmitted); }

void UpgradeServer::OnLost(uint32_t generation) {
  if (generation >= generation_) Step(ServerUpgradeEvent::kLost);
}

void UpgradeServer::OnEnd() { Step(ServerUpgradeEvent::kEnd); }

bool UpgradeServer::Step(ServerUpgradeEvent event) {
  const ServerUpgrade before = std::exchange(state_, Next(state_, event));
  return state_ != before;
}

}  // namespace farcall
