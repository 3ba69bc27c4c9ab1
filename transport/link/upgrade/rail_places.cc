// SPDX-License-Identifier: Apache-2.0

#include "transport/link/upgrade/rail_places.h"

#include <algorithm>
#include <cstddef>

namespace farcall {

std::vector<UpgradeAddress> RailPlaces::Offer(std::vector<UpgradeAddress> addresses) const {
  if (addresses.empty()) return addresses;
  // Where a set-up failed the token is void, so that the other addresses were not tried then.
  const auto first = static_cast<ptrdiff_t>(unused_ % addresses.size());
  std::rotate(addresses.begin(), addresses.begin() + first, addresses.end());
  const auto rails = [this](const UpgradeAddress& address) {
    return std::count_if(devices_.begin(), devices_.end(),
                         [&](const auto& rail) { return rail.second == address.device; });
  };
  std::stable_sort(addresses.begin(), addresses.end(),
                   [&](const auto& a, const auto& b) { return rails(a) < rails(b); });
  const auto more = std::find_if(addresses.begin(), addresses.end(), [&](const auto& address) {
    return rails(address) > rails(addresses.front());
  });
  const bool one_works = std::any_of(addresses.begin(), more, [this](const auto& address) {
    return known_.contains(address.device);
  });
  if (one_works || unused_ < kTries) addresses.erase(more, addresses.end());
  return addresses;
}

}  // namespace farcall
