// SPDX-License-Identifier: Apache-2.0
//
// The server's side of an upgrade: one connection at a time is awaited. Pure. What comes out of its
// turn changes nothing.
//
//   kIdle --ASK: await--> kPreparing --offered--> kOffered --admitted--> kReady
//     ^                       |                      |                     |
//     +-----------------------+--- failed, lost -----+---------------------+
//
// An ASK comes only when the client has given up what it asked for before (ServerUpgrader), so that
// a connection never has more than one. Where several rails are agreed on, what was admitted counts
// as one of them, and kReady is reached when all are there.

#ifndef FARCALL_TRANSPORT_LINK_UPGRADE_SERVER_UPGRADE_MACHINE_H_
#define FARCALL_TRANSPORT_LINK_UPGRADE_SERVER_UPGRADE_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace farcall {

enum class ServerUpgradeState : uint8_t { kIdle, kPreparing, kOffered, kReady, kEnded };

class ServerUpgradeMachine {
 public:
  // `rails`: at the same time.
  explicit ServerUpgradeMachine(uint32_t rails = 1) : rails_(rails) {}

  // `generation` is above all before (SwitchingStream::Expect), of which the client has given up
  // all but the rails.
  // True: await it, with a new token.
  bool OnAsk(uint32_t generation);
  // True: tell the client.
  bool OnOffered() { return Step(ServerUpgradeState::kPreparing, ServerUpgradeState::kOffered); }
  bool OnRefused() { return Step(ServerUpgradeState::kPreparing, ServerUpgradeState::kIdle); }
  // True: it is `generation`() now.
  bool OnAdmitted();
  // `generation` is dead; with one rail, so are all before it.
  void OnLost(uint32_t generation);
  void OnEnd() { state_ = ServerUpgradeState::kEnded; }

  ServerUpgradeState state() const { return state_; }
  // That is worked on, or was last; 0: none.
  uint32_t generation() const { return generation_; }
  // It is worked on: asked for, and neither admitted nor lost.
  bool busy() const {
    return state_ == ServerUpgradeState::kPreparing || state_ == ServerUpgradeState::kOffered;
  }
  // Whether it was admitted, and is not lost.
  bool ready(uint32_t generation) const;
  // How many are.
  size_t rails() const { return ready_.size(); }

 private:
  bool Step(ServerUpgradeState from, ServerUpgradeState to) {
    if (state_ != from) return false;
    state_ = to;
    return true;
  }

  ServerUpgradeState state_ = ServerUpgradeState::kIdle;
  uint32_t generation_ = 0;
  const uint32_t rails_;
  std::vector<uint32_t> ready_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_UPGRADE_SERVER_UPGRADE_MACHINE_H_
