// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_CONNECTION_CLIENT_UPGRADER_H_
#define FARCALL_TRANSPORT_LINK_CONNECTION_CLIENT_UPGRADER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "transport/link/connection/upgrader.h"
#include "transport/link/upgrade/client_upgrade_machine.h"
#include "transport/link/upgrade/unreported_fallbacks.h"
#include "transport/upgrade.h"

namespace farcall {

// Asks and dials.
class ClientUpgrader final : public Upgrader {
 public:
  explicit ClientUpgrader(Parts parts);

  absl::Status OnFrame(const LinkFrame& frame) override;
  void OnGivenUp(uint32_t generation, const absl::Status& why) override;
  void OnResumed(uint32_t generation) override {
    unreported_.OnResumed(generation, *parts_.settings->record, parts_.log_name);
  }
  void OnTurn() override;
  std::optional<TimePoint> next() const override;
  void End() override;
  const absl::Status& why() const override { return machine_.why(); }

 private:
  absl::Status OnOffer(const LinkFrame& frame);
  OfferConnectOptions OfferOptions() const;
  absl::Status OnDecline(const LinkFrame& frame);
  absl::Status OnSetUp(const LinkFrame& frame);
  void OnConnected(uint32_t generation, absl::StatusOr<std::unique_ptr<Connection>> connection);
  void Failed(const absl::Status& why);
  void Record(const absl::Status& why);
  void Watch();

  const Parts parts_;
  UnreportedFallbacks unreported_;
  ClientUpgradeMachine machine_;
  std::map<uint32_t, RailPorts> rails_;  // that are there, by their generations
  uint32_t no_port_left_ =
      0;  // the last generation that was not dialled for that (OfferConnectOptions)
  std::unique_ptr<UpgradeTicket> attempt_;
  uint32_t set_ups_ = 0;                  // frames, of attempt_
  std::unique_ptr<UpgradeTicket> watch_;  // from the first attempt on, while there is no RDMA
  // Ended, perhaps from inside its callback: goes with the turn.
  std::unique_ptr<UpgradeTicket> over_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_CONNECTION_CLIENT_UPGRADER_H_
