// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_UPGRADE_UPGRADE_RECORD_H_
#define FARCALL_TRANSPORT_LINK_UPGRADE_UPGRADE_RECORD_H_

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
#include "transport/base/event_ring.h"
#include "transport/base/time.h"
#include "transport/why_not_rdma.h"

namespace farcall {

// What became of upgrades: for logs, the status page and metrics; and which peers know no
// hello. Any thread, also with a loop held. Its memory is bounded.
class UpgradeRecord {
 public:
  static constexpr size_t kMaxPeers = 1024;

  // `log`, which may be empty, gets a line for each peer and reason, once; `events`, which may be
  // null and else outlives this, each time.
  explicit UpgradeRecord(EpisodeLog::Sink log, EventRing* events = nullptr)
      : log_(std::move(log)), events_(events) {}

  // `peer`: what the line calls it.
  void OnUpgrade(absl::string_view peer);
  // `why` carries the reason.
  void OnFallback(absl::string_view peer, const absl::Status& why);
  // RDMA broke that is required, and the connection ends with it.
  void OnRequiredLost(absl::string_view peer, const absl::Status& why);
  // One of several rails broke, or could not be had; others go on, so that it is no fallback.
  void OnRailLost(absl::string_view peer, const absl::Status& why);
  // As OnFallback, without a line.
  void CountFallback(const absl::Status& why);
  // A connection with `peer` stands still (StallWatch), which `line` says; it does no more.
  void OnStall(absl::string_view peer, absl::string_view line);
  void OnStallOver() { stalled_.fetch_sub(1, std::memory_order_relaxed); }
  UpgradeCounts counts() const;

  // `peer` knows no hello, until `until`.
  void RememberSilent(absl::string_view peer, TimePoint now, TimePoint until);
  bool KnownSilent(absl::string_view peer, TimePoint now);
  // `peer` has answered a hello; it did not answer the last one in time.
  void RememberAnswering(absl::string_view peer);
  void ForgetAnswering(absl::string_view peer);
  bool KnownAnswering(absl::string_view peer);
  // `peer` has shown that it knows no hello: it did not just say nothing, as who is busy.
  void RememberNoHello(absl::string_view peer);
  bool KnownNoHello(absl::string_view peer);
  // Not if it is known to have no hello, unless it has ever answered.
  bool MayAnswer(absl::string_view peer) { return !KnownNoHello(peer); }
  // `peer` did not take brpc's RDMA hello, until `until`.
  void RememberNoBrpc(absl::string_view peer, TimePoint now, TimePoint until);
  bool KnownNoBrpc(absl::string_view peer, TimePoint now);

 private:
  // What is known of peers until a time of each.
  class Times {
   public:
    void Remember(absl::string_view peer, TimePoint now, TimePoint until);
    bool Knows(absl::string_view peer, TimePoint now);
    void Forget(absl::string_view peer) { of_.erase(std::string(peer)); }

   private:
    std::map<std::string, TimePoint> of_;
  };

  bool FirstTime(absl::string_view peer, WhyNotRdma why);
  bool FirstStall(absl::string_view peer);

  const EpisodeLog::Sink log_;
  EventRing* const events_;
  std::atomic<uint64_t> upgrades_{0};
  std::array<std::atomic<uint64_t>, kWhyNotRdmaCount> fallbacks_{};
  std::atomic<uint64_t> stalls_{0};
  std::atomic<uint64_t> stalled_{0};

  std::mutex mutex_;
  // Guarded by mutex_.
  std::set<std::pair<std::string, WhyNotRdma>> logged_;
  Times silent_;
  Times no_brpc_;
  std::map<std::string, bool> answered_;  // once; true: the last hello too
  std::set<std::string> no_hello_peers_;
  std::set<std::string> stalled_peers_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_UPGRADE_UPGRADE_RECORD_H_
