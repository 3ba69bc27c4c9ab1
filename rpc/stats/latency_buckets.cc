// SPDX-License-Identifier: Apache-2.0

#include "rpc/stats/latency_buckets.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace farcall {

uint64_t LatencyBuckets::Total(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
}

Duration LatencyBuckets::Quantile(const Counts& counts, double q) {
  const uint64_t total = Total(counts);
  if (total == 0) return Duration::zero();
  const double share = std::clamp(q, 0.0, 1.0) * static_cast<double>(total);
  const uint64_t rank = std::max(uint64_t{1}, static_cast<uint64_t>(std::ceil(share)));
  uint64_t seen = 0;
  size_t last = 0;
  for (size_t i = 0; i < kCount; ++i) {
    if (counts[i] == 0) continue;
    last = i;
    seen += counts[i];
    if (seen >= rank) break;
  }
  return Begin(last) + (End(last) - Begin(last)) / 2;
}

}  // namespace farcall
