// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CLUSTER_BALANCE_UNIFORM_RANDOM_H_
#define FARCALL_RPC_CLUSTER_BALANCE_UNIFORM_RANDOM_H_

#include "rpc/cluster/balance/balancer.h"

namespace farcall {

// "random". Pure.
class UniformRandom final : public Balancer {
 public:
  uint32_t Pick(const Choice& choice) override { return choice.Draw(); }
};

}  // namespace farcall

#endif  // FARCALL_RPC_CLUSTER_BALANCE_UNIFORM_RANDOM_H_
