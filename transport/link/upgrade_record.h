// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_UPGRADE_RECORD_H_
#define FARCALL_TRANSPORT_LINK_UPGRADE_RECORD_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "transport/base/episode_log.h"
#include "transport/base/time.h"
#include "transport/why_not_rdma.h"

namespace farcall {

// What became of upgrades: for logs, the status page and metrics; and which peers know no
// hello. Any thread, also with a loop held. Its memory is bounded.
class UpgradeRecord {
 public:
  static constexpr size_t kMostPeers = 1024;

  // `log`, which may be empty, gets a line for each peer and reason, once.
  explicit UpgradeRecord(EpisodeLog::Sink log) : log_(std::move(log)) {}

  void OnUpgrade() { upgrades_.fetch_add(1, std::memory_order_relaxed); }
  // `peer`: what the line calls it. `why` carries the reason.
  void OnFallback(absl::string_view peer, const absl::Status& why);
  // The same, without a line.
  void CountFallback(const absl::Status& why);
  UpgradeCounts counts() const;

  // `peer` knows no hello, until `until`.
  void RememberSilent(absl::string_view peer, TimePoint now, TimePoint until);
  bool KnownSilent(absl::string_view peer, TimePoint now);

 private:
  bool FirstTime(absl::string_view peer, WhyNotRdma why);

  const EpisodeLog::Sink log_;
  std::atomic<uint64_t> upgrades_{0};
  std::array<std::atomic<uint64_t>, kWhyNotRdmaCount> fallbacks_{};

  std::mutex mutex_;
  // Guarded by mutex_.
  std::set<std::pair<std::string, WhyNotRdma>> logged_;
  std::map<std::string, TimePoint> silent_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_UPGRADE_RECORD_H_
