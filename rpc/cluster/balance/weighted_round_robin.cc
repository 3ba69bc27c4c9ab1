// SPDX-License-Identifier: Apache-2.0

#include "rpc/cluster/balance/weighted_round_robin.h"

#include <algorithm>

namespace farcall {
namespace {

// The distance between turns of a member of weight 1.
constexpr uint64_t kDistance = uint64_t{1} << 40;

}  // namespace

void WeightedRoundRobin::OnMembers(const std::vector<Member>& members) {
  strides_.clear();
  next_.clear();
  present_.assign(members.size(), true);
  heap_.clear();
  heap_.reserve(members.size());
  for (const Member& member : members) {
    strides_.push_back(kDistance / static_cast<uint64_t>(member.node.weight));
    // Anywhere in its first round, lest all clients begin with the same.
    next_.push_back(now_ + random_.Next() % strides_.back());
  }
}

void WeightedRoundRobin::OnPool(const std::vector<Member>& members,
                                const std::vector<uint32_t>& pool) {
  heap_.clear();
  for (const uint32_t index : pool) {
    // The turns that it missed while it was away are lost.
    if (!present_[index]) next_[index] = now_ + random_.Next() % strides_[index];
    heap_.push_back({next_[index], index});
  }
  std::make_heap(heap_.begin(), heap_.end(), Later);
  for (size_t i = 0; i < members.size(); ++i) present_[i] = members[i].in_pool;
}

uint32_t WeightedRoundRobin::TakeTop() {
  std::pop_heap(heap_.begin(), heap_.end(), Later);
  Turn& turn = heap_.back();
  const uint32_t index = turn.index;
  now_ = turn.at;
  next_[index] = turn.at += strides_[index];
  std::push_heap(heap_.begin(), heap_.end(), Later);
  return index;
}

uint32_t WeightedRoundRobin::Pick(const Choice& choice) {
  if (!choice.tried.empty()) return choice.DrawByWeight();
  uint32_t index = 0;
  for (int i = 0; i < Choice::kProposals; ++i) {
    index = TakeTop();
    if (choice.TakeIfNotSlow(index)) return index;
  }
  return index;
}

}  // namespace farcall
