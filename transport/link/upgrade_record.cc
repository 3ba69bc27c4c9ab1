// SPDX-License-Identifier: Apache-2.0

#include "transport/link/upgrade_record.h"

#include "absl/strings/str_cat.h"

namespace farcall {

void UpgradeRecord::OnFallback(absl::string_view peer, const absl::Status& why) {
  CountFallback(why);
  if (!log_ || !FirstTime(peer, ReasonOf(why))) return;
  log_(absl::StrCat("calls with ", peer, " travel over TCP: ", why.message()));
}

void UpgradeRecord::CountFallback(const absl::Status& why) {
  fallbacks_[static_cast<size_t>(ReasonOf(why))].fetch_add(1, std::memory_order_relaxed);
}

UpgradeCounts UpgradeRecord::counts() const {
  UpgradeCounts counts;
  counts.upgrades = upgrades_.load(std::memory_order_relaxed);
  for (size_t i = 0; i < fallbacks_.size(); ++i) {
    counts.fallbacks[i] = fallbacks_[i].load(std::memory_order_relaxed);
  }
  return counts;
}

void UpgradeRecord::RememberSilent(absl::string_view peer, TimePoint now, TimePoint until) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (silent_.size() >= kMostPeers) {
    std::erase_if(silent_, [now](const auto& entry) { return entry.second <= now; });
  }
  if (silent_.size() >= kMostPeers) silent_.erase(silent_.begin());
  silent_[std::string(peer)] = until;
}

bool UpgradeRecord::KnownSilent(absl::string_view peer, TimePoint now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = silent_.find(std::string(peer));
  if (found == silent_.end()) return false;
  if (now < found->second) return true;
  silent_.erase(found);
  return false;
}

// Who is forgotten when there are too many is logged once more.
bool UpgradeRecord::FirstTime(absl::string_view peer, WhyNotRdma why) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (logged_.size() >= kMostPeers) logged_.clear();
  return logged_.emplace(std::string(peer), why).second;
}

}  // namespace farcall
