// SPDX-License-Identifier: Apache-2.0

#include "transport/link/upgrade/client_upgrade_machine.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace farcall {

ClientUpgradeMachine::ClientUpgradeMachine(const UpgradeTimes& times, uint64_t random,
                                           uint32_t rails, bool apart)
    : times_(times),
      backoff_(times.first_pause, times.longest_pause, random),
      rails_(rails),
      apart_(apart),
      rest_(times.first_rest, times.longest_rest),
      why_(NotRdma(WhyNotRdma::kPending, "")) {}

bool ClientUpgradeMachine::ready(uint32_t generation) const {
  return std::any_of(ready_.begin(), ready_.end(),
                     [&](const Ready& one) { return one.generation == generation; });
}

ClientUpgradeMachine::Do ClientUpgradeMachine::OnTime(TimePoint now) {
  const auto due = next();
  if (!due || now < *due) return Do::kNothing;
  if (state_ == ClientUpgradeState::kAsking) {
    Pause(now, NotRdma(WhyNotRdma::kTimedOut, "the server did not answer the ask"));
    return Do::kNothing;
  }
  state_ = ClientUpgradeState::kAsking;
  ++generation_;
  next_ = now + times_.answer;
  return Do::kAsk;
}

ClientUpgradeMachine::Do ClientUpgradeMachine::OnOffer(uint32_t generation) {
  if (!Of(generation) || state_ != ClientUpgradeState::kAsking) return Do::kNothing;
  state_ = ClientUpgradeState::kConnecting;
  return Do::kConnect;
}

// A server that took back its offer says so by a decline, too.
void ClientUpgradeMachine::OnDecline(TimePoint now, uint32_t generation, const absl::Status& why) {
  if (Of(generation)) Pause(now, why);
}

void ClientUpgradeMachine::OnConnected(TimePoint now, uint32_t generation, absl::string_view rail) {
  if (!Of(generation) || state_ != ClientUpgradeState::kConnecting) return;
  ready_.push_back({.generation = generation, .since = now, .rail = NameOf(rail)});
  state_ = ready_.size() < rails_ ? ClientUpgradeState::kWaiting : ClientUpgradeState::kReady;
  next_ = pause_end_;
}

// One that breaks says nothing of others over the same port that do not.
std::string ClientUpgradeMachine::NameOf(absl::string_view rail) const {
  if (apart_) return std::string(rail);
  for (size_t number = 0;; ++number) {
    std::string name = absl::StrCat(rail, " #", number);
    const auto has_it = [&](const Ready& one) { return one.rail == name; };
    if (std::none_of(ready_.begin(), ready_.end(), has_it)) return name;
  }
}

void ClientUpgradeMachine::OnLost(TimePoint now, uint32_t generation, const absl::Status& why) {
  const auto lost = std::find_if(ready_.begin(), ready_.end(),
                                 [&](const Ready& one) { return one.generation == generation; });
  if (lost != ready_.end()) return LoseReady(now, lost, why);
  if (Of(generation)) Pause(now, why);
}

void ClientUpgradeMachine::LoseReady(TimePoint now, std::vector<Ready>::iterator lost,
                                     const absl::Status& why) {
  // One that breaks as soon as it is there must not be tried again every second.
  if (now - lost->since > backoff_.pause()) backoff_.Reset();
  rest_.OnError(lost->rail, now);
  ready_.erase(lost);
  // Of an attempt under way the time counts that it has for its answer.
  const ClientUpgradeState before = state_;
  const TimePoint deadline = next_;
  Pause(now, why);
  if (before == ClientUpgradeState::kReady || before == ClientUpgradeState::kWaiting) return;
  state_ = before;
  next_ = deadline;
}

void ClientUpgradeMachine::RetrySoon(TimePoint now) {
  backoff_.Reset();
  if (state_ != ClientUpgradeState::kWaiting || next_ <= now) return;
  next_ = pause_end_ = std::min(next_, now + backoff_.Next());
}

std::optional<TimePoint> ClientUpgradeMachine::next() const {
  if (state_ == ClientUpgradeState::kAsking) return next_;
  if (state_ != ClientUpgradeState::kWaiting) return std::nullopt;
  if (apart_) return next_;
  return std::max(next_, rest_.Until(rails_, ready_.size()));
}

std::vector<std::string> ClientUpgradeMachine::Resting(TimePoint now) const {
  if (!apart_ || ready_.empty()) return {};
  return rest_.Resting(now);
}

void ClientUpgradeMachine::Pause(TimePoint now, const absl::Status& why) {
  state_ = ClientUpgradeState::kWaiting;
  why_ = why;
  next_ = pause_end_ = now + backoff_.Next();
}

}  // namespace farcall
