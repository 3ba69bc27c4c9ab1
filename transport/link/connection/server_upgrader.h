// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_CONNECTION_SERVER_UPGRADER_H_
#define FARCALL_TRANSPORT_LINK_CONNECTION_SERVER_UPGRADER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "transport/link/connection/upgrader.h"
#include "transport/link/upgrade/ask_rate_limit.h"
#include "transport/link/upgrade/rail_places.h"
#include "transport/link/upgrade/server_upgrade_machine.h"
#include "transport/link/upgrade/upgrade_messages.h"

namespace farcall {

// Answers asks, and awaits who comes with the token.
class ServerUpgrader final : public Upgrader {
 public:
  explicit ServerUpgrader(Parts parts);

  absl::Status OnFrame(const LinkFrame& frame) override;
  void OnGivenUp(uint32_t generation, const absl::Status& why) override;
  void TrustPeer() override;
  void OnTurn() override;
  std::optional<TimePoint> next() const override;
  void End() override;
  const absl::Status& why() const override { return why_; }

 private:
  // An ask came that was not looked at yet: in its turn, behind which a request may have come.
  bool asked() const {
    return machine_.state() == ServerUpgradeState::kPreparing && ticket_ == nullptr;
  }
  bool may_upgrade() const { return trusted_ || !parts_.introduction.verify; }
  void Take(const AskMessage& ask);
  void Await(uint32_t generation);
  void Refuse(const absl::Status& why);
  void OnCome() override;
  void NotifyChange();
  void OnOffered(const UpgradePass& pass, const absl::StatusOr<std::vector<UpgradeAddress>>& offer);
  void OnAdmitted(uint32_t generation, std::unique_ptr<Connection> connection);
  void Decline(uint32_t generation, const absl::Status& why);

  ServerUpgradeMachine machine_;
  AskRateLimit ask_limit_;
  // Came while another one was under way, which the client has dialled before this end knows.
  std::optional<AskMessage> next_ask_;
  RailPlaces places_;
  absl::Status why_;
  bool trusted_ = false;
  TimePoint answer_by_{};  // while asked()
  // Something came since the last ask. If that ask fails, the client is notified of it.
  bool changed_ = false;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_CONNECTION_SERVER_UPGRADER_H_
