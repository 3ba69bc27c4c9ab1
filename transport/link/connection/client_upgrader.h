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

namespace farcall {

// Asks and dials.
class ClientUpgrader final : public Upgrader {
 public:
  explicit ClientUpgrader(Parts parts);

  absl::Status OnFrame(const LinkFrame& frame) override;
  void OnGivenUp(uint32_t generation, const absl::Status& why) override;
  void OnTurn() override;
  std::optional<TimePoint> next() const override;
  void End() override;
  const absl::Status& why() const override { return machine_.why(); }

 private:
  absl::Status OnOffer(const LinkFrame& frame);
  OfferConnectOptions OfferOptions() const;
  absl::Status OnDecline(const LinkFrame& frame);
  void OnConnected(uint32_t generation, absl::StatusOr<std::unique_ptr<Connection>> connection);
  void Failed(const absl::Status& why);
  void OnCome() override { machine_.RetrySoon(parts_.loop.now()); }

  ClientUpgradeMachine machine_;
  std::map<uint32_t, RailPorts> rails_;  // that are there, by their generations
  // The last one that was not dialled since no port is left (OfferConnectOptions).
  uint32_t no_port_left_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_CONNECTION_CLIENT_UPGRADER_H_
