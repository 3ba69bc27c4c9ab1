// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_UPGRADE_HELD_FALLBACK_H_
#define FARCALL_TRANSPORT_LINK_UPGRADE_HELD_FALLBACK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "transport/link/upgrade/upgrade_record.h"

namespace farcall {

// A generation that was in use is over. A peer that lives answers with RESUME on the lifeline, and
// only then it is told: of one that has ended, as clients do all day, queue pair and TCP connection
// go one after the other, and nothing travels over TCP then. One at a time: the peer says RESUME
// before anything of the next generation. With the loop held.
class HeldFallback {
 public:
  void Hold(uint32_t generation, absl::Status why) { held_.emplace(generation, std::move(why)); }
  // The peer's RESUME of `generation`.
  void OnResumed(uint32_t generation, UpgradeRecord& record, const std::string& peer) {
    if (!held_ || generation < held_->first) return;
    record.OnFallback(peer, held_->second);
    held_.reset();
  }

 private:
  std::optional<std::pair<uint32_t, absl::Status>> held_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_UPGRADE_HELD_FALLBACK_H_
