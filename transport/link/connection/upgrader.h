// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_CONNECTION_UPGRADER_H_
#define FARCALL_TRANSPORT_LINK_CONNECTION_UPGRADER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "transport/base/time.h"
#include "transport/link/connection/link_settings.h"
#include "transport/link/stream/frames/frame.h"
#include "transport/link/stream/switching_stream.h"
#include "transport/loop/event_loop.h"
#include "transport/transport.h"
#include "transport/upgrade.h"

namespace farcall {

// One end's part in the upgrade of a link: asks, offers, dials, awaits, and hands over
// connections. With the loop held.
class Upgrader {
 public:
  struct Parts {
    EventLoop& loop;
    SwitchingStream& stream;  // outlives it
    std::shared_ptr<const LinkSettings> settings;
    ConnectionOptions options;  // of the connections
    Introduction introduction;
    uint32_t rails;        // generations at the same time
    std::string log_name;  // of the peer
    // `generation` can be sent on. From the callbacks of an UpgradeTransport, as the next.
    absl::AnyInvocable<void(uint32_t generation, std::unique_ptr<Connection>) const> on_upgraded;
    // Something was done to the stream, or why() is another.
    absl::AnyInvocable<void() const> on_event;
  };

  virtual ~Upgrader() = default;
  // An upgrade frame, from the lifeline. An error is a breach of the protocol.
  virtual absl::Status OnFrame(const LinkFrame& frame) = 0;
  // The stream has given up `generation`, and all before it. Calls nothing of the stream.
  virtual void OnGivenUp(uint32_t generation, const absl::Status& why) = 0;
  // The peer has given it up too: its RESUME, after OnGivenUp here. Calls nothing of the stream.
  void OnResumed(uint32_t generation);
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
  explicit Upgrader(Parts parts) : parts_(std::move(parts)) {}

  // Something came, here or there, that may make the next attempt good.
  virtual void OnCome() = 0;
  void WatchWhile(bool wanted);
  // Sends what the ticket says to the peer, as UPGRADE_SETUP of `generation`.
  UpgradeTransport::SendSetUp SendSetUps(uint32_t generation);
  // An UPGRADE_SETUP frame, where `generation` is under way.
  absl::Status OnSetUp(const LinkFrame& frame, uint32_t generation);
  void SetTicket(std::unique_ptr<UpgradeTicket> ticket);
  // Perhaps from inside its callback: it goes with the turn.
  void DropTicket();
  void EndTurn() { over_.clear(); }
  // Why a generation is not there; `others`: of several rails some are, so that it is no fallback.
  void Record(const absl::Status& why, bool others);
  // The same of one that was in use. A peer that lives answers with RESUME on the lifeline, and
  // only then it is reported: when a client ends, queue pairs and TCP connection go one after the
  // other, and nothing travels over TCP then.
  void RecordWhenResumed(uint32_t generation, const absl::Status& why, bool others);

  const Parts parts_;
  std::unique_ptr<UpgradeTicket> ticket_;  // of the generation under way

 private:
  struct Lost {
    uint32_t generation;
    absl::Status why;
    bool others;
  };

  uint32_t set_ups_ = 0;                  // frames, of ticket_
  std::unique_ptr<UpgradeTicket> watch_;  // from the first attempt on, while there is no RDMA
  std::vector<std::unique_ptr<UpgradeTicket>> over_;
  std::vector<Lost> unreported_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_CONNECTION_UPGRADER_H_
