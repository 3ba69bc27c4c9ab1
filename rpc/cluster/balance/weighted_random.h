// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CLUSTER_BALANCE_WEIGHTED_RANDOM_H_
#define FARCALL_RPC_CLUSTER_BALANCE_WEIGHTED_RANDOM_H_

#include <vector>

#include "rpc/cluster/balance/balancer.h"

namespace farcall {

// "wr": at random by weight. Pure.
class WeightedRandom final : public Balancer {
 public:
  void OnPool(const std::vector<Member>& members, const std::vector<uint32_t>& pool) override;
  uint32_t Pick(const Choice& choice) override;

 private:
  std::vector<uint64_t> sums_;  // of the weights of the pool up to and with each
};

}  // namespace farcall

#endif  // FARCALL_RPC_CLUSTER_BALANCE_WEIGHTED_RANDOM_H_
