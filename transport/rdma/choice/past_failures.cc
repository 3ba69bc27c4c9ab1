// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/choice/past_failures.h"

#include <algorithm>

namespace farcall {

PastFailures::Key PastFailures::KeyOf(const OwnEnd* own, const OfferedEnd& offered) {
  const bool by_gid = offered.gid.has_value();
  if (own == nullptr) return {"", uint8_t{0}, by_gid, offered.name};
  return {own->device, own->port, by_gid, offered.name};
}

void PastFailures::Add(const OwnEnd* own, const OfferedEnd& offered, TimePoint now) {
  const Key key = KeyOf(own, offered);
  if (ways_.size() >= kMost && !ways_.contains(key)) {
    ways_.erase(std::min_element(ways_.begin(), ways_.end(), [](const auto& one, const auto& two) {
      return one.second.last < two.second.last;
    }));
  }
  Failures& failures = ways_[key];
  if (now - failures.last >= kRemembered) failures.count = 0;
  ++failures.count;
  failures.last = now;
}

uint32_t PastFailures::Count(const OwnEnd* own, const OfferedEnd& offered, TimePoint now) const {
  const auto found = ways_.find(KeyOf(own, offered));
  if (found == ways_.end() || now - found->second.last >= kRemembered) return 0;
  return found->second.count;
}

}  // namespace farcall
