// SPDX-License-Identifier: Apache-2.0

#include "rpc/cluster/balance/pool.h"

#include <algorithm>
#include <optional>

namespace farcall {
namespace {

// Error rates that differ by less are equally bad.
constexpr double kAsBad = 0.1;

}  // namespace

void Pool::Rebuild(std::vector<Member>& members) {
  size_t live = 0;
  double least_bad = 1;
  reachable_ = broken_ = 0;
  next_return_ = TimePoint::max();
  for (const Member& member : members) {
    if (member.live()) ++live;
    if (!member.health.up()) continue;
    ++reachable_;
    if (!member.breaker.open()) continue;
    ++broken_;
    next_return_ = std::min(next_return_, member.breaker.until());
    least_bad = std::min(least_bad, member.breaker.error_rate());
  }
  live_ = live > 0;

  pool_.clear();
  pool_.reserve(members.size());
  latencies_.reserve(members.size());
  for (uint32_t i = 0; i < members.size(); ++i) {
    Member& member = members[i];
    if (live_) {
      member.in_pool = member.live();
    } else if (broken_ > 0) {
      member.in_pool = member.health.up() && member.breaker.error_rate() <= least_bad + kAsBad;
    } else {
      member.in_pool = true;
    }
    if (!member.in_pool) continue;
    if (pool_.empty() || member.slow_start.until() < largest_.until()) {
      largest_ = member.slow_start;
    }
    pool_.push_back(i);
  }
}

double Pool::MedianLatencyBeside(const Member& member, const std::vector<Member>& members) {
  latencies_.clear();
  for (const uint32_t i : pool_) {
    const std::optional<double> mean = members[i].breaker.mean_latency();
    if (mean && members[i].id != member.id) latencies_.push_back(*mean);
  }
  if (latencies_.empty()) return 0;
  const auto middle = latencies_.begin() + static_cast<ptrdiff_t>(latencies_.size() / 2);
  std::nth_element(latencies_.begin(), middle, latencies_.end());
  return *middle;
}

}  // namespace farcall
