// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_CONNECTION_UPGRADER_H_
#define FARCALL_TRANSPORT_LINK_CONNECTION_UPGRADER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "transport/base/time.h"
#include "transport/link/connection/link_settings.h"
#include "transport/link/stream/frame.h"
#include "transport/link/stream/switching_stream.h"
#include "transport/loop/event_loop.h"
#include "transport/transport.h"

namespace farcall {

// One end's part in the upgrade of a link: asks, offers, dials, awaits, and hands over
// connections. With the loop held; none of its methods calls its User but where it says.
class Upgrader {
 public:
  class User {
   public:
    // `generation` can be sent on. From the callbacks of an UpgradeTransport, as the next.
    virtual void OnUpgraded(uint32_t generation, std::unique_ptr<Connection> connection) = 0;
    // Something was done to the stream, or why() is another.
    virtual void OnUpgraderEvent() = 0;

   protected:
    ~User() = default;
  };
  struct Parts {
    EventLoop& loop;
    SwitchingStream& stream;  // outlives it
    std::shared_ptr<const LinkSettings> settings;
    ConnectionOptions options;  // of the connections
    Introduction introduction;
    uint32_t rails;        // generations at the same time
    std::string log_name;  // of the peer
    User& user;            // outlives it
  };

  // UPGRADE_SETUP frames of one generation from the peer: who tries all places of an offer one
  // after the other needs two for each.
  static constexpr uint32_t kMaxSetUps = 2 * kMaxOffered;

  virtual ~Upgrader() = default;
  // An upgrade frame, from the lifeline. An error is a breach of the protocol.
  virtual absl::Status OnFrame(const LinkFrame& frame) = 0;
  // The stream has given up `generation`, and all before it. Calls nothing of the stream.
  virtual void OnGivenUp(uint32_t generation, const absl::Status& why) = 0;
  // The peer has given it up too: its RESUME, after OnGivenUp here. Calls nothing of the stream.
  virtual void OnResumed(uint32_t generation) = 0;
  // Connection::TrustPeer. OnTurn follows.
  virtual void TrustPeer() {}
  // The end of the loop's turn: does what is due. Not from a callback of an UpgradeTransport.
  virtual void OnTurn() = 0;
  // When OnTurn is due.
  virtual std::optional<TimePoint> next() const = 0;
  // No upgrades any more, and no callbacks.
  virtual void End() = 0;
  // Why RDMA is not in use, if it is not: of the last attempt.
  virtual const absl::Status& why() const = 0;

 protected:
  static absl::Status TooManySetUps() {
    return absl::InvalidArgumentError("more than 8 UPGRADE_SETUP for one generation");
  }
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_CONNECTION_UPGRADER_H_
