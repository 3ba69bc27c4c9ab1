// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/host/arrivals.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"

namespace farcall {

void Arrivals::Forget(const std::string& device) {
  std::erase_if(usable_, [prefix = device + " "](const std::string& place) {
    return absl::StartsWith(place, prefix);
  });
}

void Arrivals::See(std::set<std::string> usable) {
  const bool came = !std::includes(usable_.begin(), usable_.end(), usable.begin(), usable.end());
  usable_ = std::move(usable);
  if (!came) return;
  ++count_;
  absl::flat_hash_map<EventLoop*, std::vector<std::shared_ptr<Waiter>>> notified;
  for (const auto& waiter : waiters_) notified[&waiter->loop].push_back(waiter);
  for (auto& [loop, waiters] : notified) {
    loop->Post([waiters = std::move(waiters)] {
      for (const auto& waiter : waiters) {
        if (waiter->come) waiter->come();
      }
    });
  }
}

}  // namespace farcall
