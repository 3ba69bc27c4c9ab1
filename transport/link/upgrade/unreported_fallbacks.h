// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_UPGRADE_UNREPORTED_FALLBACKS_H_
#define FARCALL_TRANSPORT_LINK_UPGRADE_UNREPORTED_FALLBACKS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "transport/link/upgrade/upgrade_record.h"
#include "transport/link_options.h"

namespace farcall {

// A generation that was in use is over. A peer that lives answers with RESUME on the lifeline, and
// only then it is reported: when a client ends, queue pairs and TCP connection go one after the
// other, and nothing travels over TCP then. At most as many as there
// are rails: the peer says RESUME before anything of the next generation. With the loop held.
class UnreportedFallbacks {
 public:
  // `others`: of several rails some are left.
  void Add(uint32_t generation, absl::Status why, bool others = false) {
    // A peer that never says RESUME makes no more pile up.
    if (unreported_.size() == kMax) unreported_.erase(unreported_.begin());
    unreported_.push_back({generation, std::move(why), others});
  }
  // The peer's RESUME of `generation`.
  void OnResumed(uint32_t generation, UpgradeRecord& record, const std::string& peer) {
    std::erase_if(unreported_, [&](const Held& one) {
      if (generation < one.generation) return false;
      one.others ? record.OnRailLost(peer, one.why) : record.OnFallback(peer, one.why);
      return true;
    });
  }

 private:
  static constexpr size_t kMax = kMaxRails;

  struct Held {
    uint32_t generation;
    absl::Status why;
    bool others;
  };
  std::vector<Held> unreported_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_UPGRADE_UNREPORTED_FALLBACKS_H_
