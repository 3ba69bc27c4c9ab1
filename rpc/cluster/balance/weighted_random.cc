// SPDX-License-Identifier: Apache-2.0

#include "rpc/cluster/balance/weighted_random.h"

#include <algorithm>

namespace farcall {

void WeightedRandom::OnPool(const std::vector<Member>& members, const std::vector<uint32_t>& pool) {
  sums_.clear();
  sums_.reserve(members.size());
  uint64_t sum = 0;
  for (const uint32_t index : pool) {
    sum += static_cast<uint64_t>(members[index].node.weight);
    sums_.push_back(sum);
  }
}

uint32_t WeightedRandom::Pick(const Choice& choice) {
  if (!choice.tried.empty()) return choice.DrawByWeight();
  uint32_t index = 0;
  for (int i = 0; i < Choice::kProposals; ++i) {
    const auto at = static_cast<uint64_t>(choice.random.Unit() * static_cast<double>(sums_.back()));
    const auto sum = std::upper_bound(sums_.begin(), sums_.end() - 1, at);
    index = choice.pool[static_cast<size_t>(sum - sums_.begin())];
    if (choice.TakeIfNotSlow(index)) return index;
  }
  return index;
}

}  // namespace farcall
