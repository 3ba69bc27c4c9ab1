// SPDX-License-Identifier: Apache-2.0

#include "transport/link/upgrade/upgrade_record.h"

#include "absl/strings/str_cat.h"

namespace farcall {
namespace {

// Forgets all where there is no room for one more. A key that is known already needs none.
template <typename Key, typename Known>
void MakeRoomFor(const Key& key, Known& known) {
  if (known.size() >= UpgradeRecord::kMaxPeers && !known.contains(key)) known.clear();
}

}  // namespace

void UpgradeRecord::OnUpgrade(absl::string_view peer) {
  upgrades_.fetch_add(1, std::memory_order_relaxed);
  if (events_ != nullptr) events_->Add(absl::StrCat(peer, " went over to RDMA"));
}

void UpgradeRecord::OnFallback(absl::string_view peer, const absl::Status& why) {
  CountFallback(why);
  if (events_ != nullptr) {
    events_->Add(
        absl::StrCat(peer, " travels over TCP: ", Name(ReasonOf(why)), ": ", why.message()));
  }
  if (!log_ || !FirstTime(peer, ReasonOf(why))) return;
  log_(absl::StrCat("calls with ", peer, " travel over TCP: ", why.message()));
}

void UpgradeRecord::OnRequiredLost(absl::string_view peer, const absl::Status& why) {
  if (events_ != nullptr) {
    events_->Add(absl::StrCat(peer, " has lost RDMA, which is required: ", Name(ReasonOf(why)),
                              ": ", why.message()));
  }
  if (!log_ || !FirstTime(peer, ReasonOf(why))) return;
  log_(absl::StrCat("a connection with ", peer,
                    " ends, since RDMA is required and was lost: ", why.message()));
}

void UpgradeRecord::OnRailLost(absl::string_view peer, const absl::Status& why) {
  if (events_ == nullptr) return;
  events_->Add(absl::StrCat(peer, " has a rail less: ", Name(ReasonOf(why)), ": ", why.message()));
}

void UpgradeRecord::CountFallback(const absl::Status& why) {
  fallbacks_[static_cast<size_t>(ReasonOf(why))].fetch_add(1, std::memory_order_relaxed);
}

void UpgradeRecord::OnStall(absl::string_view peer, absl::string_view line) {
  stalls_.fetch_add(1, std::memory_order_relaxed);
  stalled_.fetch_add(1, std::memory_order_relaxed);
  if (events_ != nullptr) events_->Add(line);
  if (log_ && FirstStall(peer)) log_(line);
}

UpgradeCounts UpgradeRecord::counts() const {
  UpgradeCounts counts;
  counts.upgrades = upgrades_.load(std::memory_order_relaxed);
  for (size_t i = 0; i < fallbacks_.size(); ++i) {
    counts.fallbacks[i] = fallbacks_[i].load(std::memory_order_relaxed);
  }
  counts.stalls = stalls_.load(std::memory_order_relaxed);
  counts.stalled = stalled_.load(std::memory_order_relaxed);
  return counts;
}

void UpgradeRecord::Times::Remember(absl::string_view peer, TimePoint now, TimePoint until) {
  if (of_.size() >= kMaxPeers) {
    std::erase_if(of_, [now](const auto& entry) { return entry.second <= now; });
  }
  const std::string key(peer);
  if (of_.size() >= kMaxPeers && !of_.contains(key)) of_.erase(of_.begin());
  of_[key] = until;
}

bool UpgradeRecord::Times::Knows(absl::string_view peer, TimePoint now) {
  const auto found = of_.find(std::string(peer));
  if (found == of_.end()) return false;
  if (now < found->second) return true;
  of_.erase(found);
  return false;
}

void UpgradeRecord::RememberSilent(absl::string_view peer, TimePoint now, TimePoint until) {
  const std::lock_guard<std::mutex> lock(mutex_);
  silent_.Remember(peer, now, until);
}

bool UpgradeRecord::KnownSilent(absl::string_view peer, TimePoint now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return silent_.Knows(peer, now);
}

void UpgradeRecord::RememberNoBrpc(absl::string_view peer, TimePoint now, TimePoint until) {
  const std::lock_guard<std::mutex> lock(mutex_);
  no_brpc_.Remember(peer, now, until);
}

bool UpgradeRecord::KnownNoBrpc(absl::string_view peer, TimePoint now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return no_brpc_.Knows(peer, now);
}

void UpgradeRecord::RememberAnswering(absl::string_view peer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  MakeRoomFor(std::string(peer), answered_);
  answered_[std::string(peer)] = true;
  no_hello_peers_.erase(std::string(peer));
  silent_.Forget(peer);
}

void UpgradeRecord::ForgetAnswering(absl::string_view peer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = answered_.find(std::string(peer));
  if (found != answered_.end()) found->second = false;
}

bool UpgradeRecord::KnownAnswering(absl::string_view peer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = answered_.find(std::string(peer));
  return found != answered_.end() && found->second;
}

void UpgradeRecord::RememberNoHello(absl::string_view peer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (answered_.contains(std::string(peer))) return;
  MakeRoomFor(std::string(peer), no_hello_peers_);
  no_hello_peers_.emplace(peer);
}

bool UpgradeRecord::KnownNoHello(absl::string_view peer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return no_hello_peers_.contains(std::string(peer));
}

bool UpgradeRecord::FirstStall(absl::string_view peer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  MakeRoomFor(std::string(peer), stalled_peers_);
  return stalled_peers_.emplace(peer).second;
}

// Who is forgotten when there are too many is logged once more.
bool UpgradeRecord::FirstTime(absl::string_view peer, WhyNotRdma why) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::pair<std::string, WhyNotRdma> what(peer, why);
  MakeRoomFor(what, logged_);
  return logged_.insert(what).second;
}

}  // namespace farcall
