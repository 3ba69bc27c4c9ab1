// SPDX-License-Identifier: Apache-2.0

#include "transport/link/upgrade/rail_rest.h"

#include <algorithm>

namespace farcall {

RailRest::Record& RailRest::Find(absl::string_view rail) {
  const auto found = std::find_if(records_.begin(), records_.end(),
                                  [&](const Record& one) { return one.rail == rail; });
  if (found != records_.end()) {
    std::rotate(found, found + 1, records_.end());
    return records_.back();
  }
  if (records_.size() == kMax) records_.erase(records_.begin());
  records_.emplace_back().rail = std::string(rail);
  return records_.back();
}

void RailRest::OnError(absl::string_view rail, TimePoint now) {
  Record& record = Find(rail);
  std::erase_if(record.errors, [now](TimePoint error) { return now - error >= kWithin; });
  record.errors.push_back(now);
  if (record.errors.size() < kErrors) return;
  record.errors.clear();
  const bool again = record.rest > Duration::zero() && now - record.end < longest_;
  record.rest = again ? std::min(2 * record.rest, longest_) : first_;
  record.end = now + record.rest;
}

std::vector<std::string> RailRest::Resting(TimePoint now) const {
  std::vector<std::string> resting;
  for (const Record& record : records_) {
    if (now < record.end) resting.push_back(record.rail);
  }
  return resting;
}

TimePoint RailRest::Until(size_t wanted, size_t ready) const {
  const size_t missing = wanted - std::min(wanted, ready);
  if (ready == 0 || missing == 0 || records_.size() < missing) return TimePoint::min();
  std::vector<TimePoint> ends;
  ends.reserve(records_.size());
  for (const Record& record : records_) ends.push_back(record.end);
  std::sort(ends.begin(), ends.end());
  // From then on fewer rest than are missing.
  return ends[ends.size() - missing];
}

}  // namespace farcall
