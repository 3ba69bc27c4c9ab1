// SPDX-License-Identifier: Apache-2.0

#include "transport/link/connection/client_upgrader.h"

#include <array>
#include <cstring>
#include <utility>

#include "absl/strings/string_view.h"
#include "transport/base/check.h"
#include "transport/link/upgrade/upgrade_messages.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

uint64_t RandomNumber(const RandomBytes& random) {
  std::array<uint8_t, sizeof(uint64_t)> bytes{};
  random(bytes);
  uint64_t number = 0;
  std::memcpy(&number, bytes.data(), sizeof(number));
  return number;
}

}  // namespace

ClientUpgrader::ClientUpgrader(Parts parts)
    : Upgrader(std::move(parts)),
      machine_(parts_.settings->options.upgrade, RandomNumber(parts_.settings->random),
               parts_.rails, parts_.settings->options.rails_apart) {}

absl::Status ClientUpgrader::OnFrame(const LinkFrame& frame) {
  if (frame.type == LinkFrameType::kUpgradeOffer) return OnOffer(frame);
  if (frame.type == LinkFrameType::kUpgradeDecline) return OnDecline(frame);
  if (frame.type == LinkFrameType::kUpgradeSetUp) return OnSetUp(frame, machine_.generation());
  return absl::InvalidArgumentError("a server does not ask for an upgrade");
}

absl::Status ClientUpgrader::OnOffer(const LinkFrame& frame) {
  const auto offer = ParseOffer(frame.payload.ToString());
  if (!offer.ok()) return offer.status();
  const uint32_t generation = offer->pass.generation;
  if (machine_.OnOffer(generation) == ClientUpgradeMachine::Do::kNothing) return absl::OkStatus();
  if (offer->addresses.empty()) {
    const absl::Status why =
        NotRdma(WhyNotRdma::kUnreachable, "the offer has no address that this version knows");
    Failed(why);
    return absl::OkStatus();
  }
  SetTicket(parts_.settings->rdma->ConnectToOffer(
      parts_.loop, offer->addresses, offer->pass, OfferOptions(), SendSetUps(generation),
      [this, generation](absl::StatusOr<std::unique_ptr<Connection>> connection) {
        OnConnected(generation, std::move(connection));
      }));
  return absl::OkStatus();
}

OfferConnectOptions ClientUpgrader::OfferOptions() const {
  const UpgradeOptions& upgrade = parts_.settings->options;
  OfferConnectOptions options;
  options.connection = parts_.options;
  options.timeout = upgrade.upgrade.dial;
  options.apart = upgrade.rails_apart;
  for (const auto& [generation, ports] : rails_) options.rails.push_back(ports);
  for (std::string& resting : machine_.Resting(parts_.loop.now())) {
    options.rails.push_back({std::move(resting), "", kNoFabric});
  }
  return options;
}

absl::Status ClientUpgrader::OnDecline(const LinkFrame& frame) {
  const auto decline = ParseDecline(frame.payload.ToString());
  if (!decline.ok()) return decline.status();
  if (decline->generation != machine_.generation()) return absl::OkStatus();
  if (decline->again) {
    machine_.RetrySoon(parts_.loop.now());
    return absl::OkStatus();
  }
  const ClientUpgradeState before = machine_.state();
  machine_.OnDecline(parts_.loop.now(), decline->generation, decline->why);
  // One that is repeated is no other attempt that failed.
  if (machine_.state() != before) Record(decline->why, machine_.rails() > 0);
  parts_.stream.OnGenerationBroken(decline->generation, decline->why);
  return absl::OkStatus();
}

void ClientUpgrader::OnConnected(uint32_t generation,
                                 absl::StatusOr<std::unique_ptr<Connection>> connection) {
  if (ticket_ == nullptr || generation != machine_.generation() ||
      machine_.state() != ClientUpgradeState::kConnecting) {
    return;
  }
  DropTicket();
  if (connection.ok()) {
    const ConnectionInfo info = (*connection)->info();
    const RailPorts ports{PortName(info.device, info.device_port), info.peer_device, info.fabric};
    machine_.OnConnected(parts_.loop.now(), generation, ports.own);
    if (parts_.rails > 1) rails_[generation] = ports;
    parts_.on_upgraded(generation, *std::move(connection));
  } else {
    if (absl::IsAlreadyExists(connection.status())) no_port_left_ = generation;
    Failed(connection.status());
  }
  parts_.on_event();
}

// The stream tells of it by OnGivenUp, if it had not given it up before.
void ClientUpgrader::Failed(const absl::Status& why) {
  parts_.stream.OnGenerationBroken(machine_.generation(), why);
}

void ClientUpgrader::OnGivenUp(uint32_t generation, const absl::Status& why) {
  const bool was_ready = machine_.ready(generation);
  if (generation < machine_.generation() && !was_ready) return;
  if (!was_ready) DropTicket();
  const ClientUpgradeState before = machine_.state();
  machine_.OnLost(parts_.loop.now(), generation, why);
  rails_.erase(generation);
  // Calls travel over RDMA all the same if it was for a further rail.
  const bool others = machine_.rails() > 0;
  if (was_ready) return RecordWhenResumed(generation, why, others);
  if (machine_.state() != before && generation != no_port_left_) Record(why, others);
}

void ClientUpgrader::OnTurn() {
  EndTurn();
  const ClientUpgradeState state = machine_.state();
  // Not before the first attempt, which is at once.
  WatchWhile(state != ClientUpgradeState::kReady && state != ClientUpgradeState::kEnded &&
             machine_.generation() != 0);
  const TimePoint now = parts_.loop.now();
  // An ask that was not answered is given up first, so that the stream may begin another.
  if (machine_.state() == ClientUpgradeState::kAsking) {
    machine_.OnTime(now);
    if (machine_.state() != ClientUpgradeState::kWaiting) return;
    Record(machine_.why(), machine_.rails() > 0);
    return Failed(machine_.why());
  }
  if (!parts_.stream.MayStart()) return;
  const absl::Status why = machine_.why();
  if (machine_.OnTime(now) != ClientUpgradeMachine::Do::kAsk) return;
  const uint32_t generation = parts_.stream.Start();
  Check(generation == machine_.generation(), "stream and client count the same generations");
  // Who was let in once may ask again.
  const auto& credential = parts_.introduction.credential;
  const std::string shown = generation == 1 && credential ? credential() : std::string();
  parts_.stream.SendUpgrade(LinkFrameType::kUpgradeAsk, EncodeAsk(generation, why, shown));
}

std::optional<TimePoint> ClientUpgrader::next() const {
  if (machine_.state() == ClientUpgradeState::kWaiting && !parts_.stream.MayStart()) {
    return std::nullopt;
  }
  return machine_.next();
}

void ClientUpgrader::End() {
  machine_.OnEnd();
  DropTicket();
}

}  // namespace farcall
