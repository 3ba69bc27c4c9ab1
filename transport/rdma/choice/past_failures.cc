// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/choice/past_failures.h"

#include <algorithm>

namespace farcall {

PastFailures::Key PastFailures::KeyOf(const OwnEnd* own, const OfferedEnd& offered) {
  const Place place{offered.gid.has_value(), offered.name};
  if (own == nullptr) return {{"", uint8_t{0}}, place};
  return {{own->device, own->port}, place};
}

void PastFailures::Add(const OwnEnd* own, const OfferedEnd& offered, TimePoint now) {
  const Key key = KeyOf(own, offered);
  if (ways_.size() >= kMax && !ways_.contains(key)) {
    ways_.erase(std::min_element(ways_.begin(), ways_.end(), [](const auto& one, const auto& two) {
      return one.second.last < two.second.last;
    }));
  }
  Failures& failures = ways_[key];
  if (now - failures.last >= kRemembered) failures.count = 0;
  failures = {failures.count + 1, now};
}

void PastFailures::OnWorks(const OwnEnd* own, const OfferedEnd& offered) {
  const Key key = KeyOf(own, offered);
  ways_.erase(key);
  for (auto& [other, failures] : ways_) {
    failures.own_works |= other.first == key.first;
    failures.place_works |= other.second == key.second;
  }
}

uint32_t PastFailures::Count(const OwnEnd* own, const OfferedEnd& offered, TimePoint now) const {
  const Key key = KeyOf(own, offered);
  uint32_t count = 0;
  uint32_t of_own = 0;
  uint32_t of_place = 0;
  for (const auto& [other, failures] : ways_) {
    if (now - failures.last >= kRemembered) continue;
    const bool same_own = own != nullptr && other.first == key.first;
    const bool same_place = other.second == key.second;
    if (other == key) {
      count += failures.count;
    } else if (same_place && !failures.place_works) {
      ++of_place;
    } else if (same_own && !failures.own_works) {
      ++of_own;
    }
  }
  return count + (of_own >= kOthers ? of_own : 0) + (of_place >= kOthers ? of_place : 0);
}

}  // namespace farcall
