// SPDX-License-Identifier: Apache-2.0
//
// The server's side of an upgrade: one connection at a time is awaited. Pure, total.
//
//   kIdle --ASK: await--> kPreparing --offered--> kOffered --admitted--> kReady
//     ^                       |                      |                     |
//     +-----------------------+--- failed, lost -----+---------------------+
//
// An ASK comes only when the client has given up what it asked for before (ServerUpgrader), so that
// a connection never has more than one.

#ifndef FARCALL_TRANSPORT_LINK_UPGRADE_UPGRADE_SERVER_H_
#define FARCALL_TRANSPORT_LINK_UPGRADE_UPGRADE_SERVER_H_

#include <cstdint>

namespace farcall {

enum class ServerUpgrade : uint8_t { kIdle, kPreparing, kOffered, kReady, kEnded };
enum class ServerUpgradeEvent : uint8_t {
  kAsk,
  kOffered,   // addresses are known, and somebody may dial
  kRefused,   // or why not
  kAdmitted,  // somebody did
  kLost,      // given up, here or there
  kEnd,       // the connection is closing
};
ServerUpgrade Next(ServerUpgrade state, ServerUpgradeEvent event);

class UpgradeServer {
 public:
  // `generation` is above all before (SwitchingStream::Expect), which the client has given up.
  // True: await it, with a new token.
  bool OnAsk(uint32_t generation);
  // True: tell the client.
  bool OnOffered();
  bool OnRefused();
  // True: it is `generation`() now.
  bool OnAdmitted();
  // `generation` and all before it are dead.
  void OnLost(uint32_t generation);
  void OnEnd();

  ServerUpgrade state() const { return state_; }
  // That is worked on, or was last; 0: none.
  uint32_t generation() const { return generation_; }

 private:
  bool Step(ServerUpgradeEvent event);

  ServerUpgrade state_ = ServerUpgrade::kIdle;
  uint32_t generation_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_UPGRADE_UPGRADE_SERVER_H_
