// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CLUSTER_BALANCE_LEAST_LATENCY_H_
#define FARCALL_RPC_CLUSTER_BALANCE_LEAST_LATENCY_H_

#include "rpc/cluster/balance/balancer.h"

namespace farcall {

// "la": of two at random, the one where the call would be over sooner: its latency, times the
// calls that it has and this one. Two, and not the best of all: the best of all would be that of
// all clients. Pure.
class LeastLatency final : public Balancer {
 public:
  uint32_t Pick(const Choice& choice) override;

 private:
  static double Score(const Choice& choice, uint32_t index);
};

}  // namespace farcall

#endif  // FARCALL_RPC_CLUSTER_BALANCE_LEAST_LATENCY_H_
