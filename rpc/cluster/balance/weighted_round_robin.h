// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CLUSTER_BALANCE_WEIGHTED_ROUND_ROBIN_H_
#define FARCALL_RPC_CLUSTER_BALANCE_WEIGHTED_ROUND_ROBIN_H_

#include <vector>

#include "rpc/cluster/balance/balancer.h"

namespace farcall {

// "wrr": each member has its turns at distances of 1 / weight on one line, and the nearest turn is
// next, so that those of a heavy member are spread among the others'. A heap: O(log n). Retries
// take no turns: else one that gets many of them would owe calls long after. Pure.
class WeightedRoundRobin final : public Balancer {
 public:
  explicit WeightedRoundRobin(SplitMix& random) : random_(random) {}

  void OnMembers(const std::vector<Member>& members) override;
  void OnPool(const std::vector<Member>& members, const std::vector<uint32_t>& pool) override;
  uint32_t Pick(const Choice& choice) override;

 private:
  struct Turn {
    uint64_t at;  // wraps around; all are within half of its range
    uint32_t index;
  };
  // For the heap, whose top is the one that no other is less than.
  static bool Later(const Turn& a, const Turn& b) {
    const auto distance = static_cast<int64_t>(a.at - b.at);
    return distance != 0 ? distance > 0 : a.index > b.index;
  }
  uint32_t TakeTop();

  SplitMix& random_;
  uint64_t now_ = 0;               // the last turn that was had
  std::vector<uint64_t> strides_;  // by index of member
  std::vector<uint64_t> next_;     // likewise: its next turn
  std::vector<bool> present_;      // likewise: in the pool
  std::vector<Turn> heap_;         // of the pool
};

}  // namespace farcall

#endif  // FARCALL_RPC_CLUSTER_BALANCE_WEIGHTED_ROUND_ROBIN_H_
