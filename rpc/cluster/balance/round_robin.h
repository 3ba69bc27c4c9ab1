// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CLUSTER_BALANCE_ROUND_ROBIN_H_
#define FARCALL_RPC_CLUSTER_BALANCE_ROUND_ROBIN_H_

#include "rpc/cluster/balance/balancer.h"

namespace farcall {

// "rr": one after the other, from one at random, lest all clients begin with the same. What a
// server may not have, being tried or slow, goes to any other at random: were it
// always the next in the row, that one would carry double. Pure.
class RoundRobin final : public Balancer {
 public:
  explicit RoundRobin(SplitMix& random) : next_(random.Below(1u << 16)) {}

  uint32_t Pick(const Choice& choice) override {
    const auto size = static_cast<uint32_t>(choice.pool.size());
    if (next_ >= size) next_ %= size;
    const uint32_t index = choice.pool[next_++];
    return !choice.Tried(index) && choice.TakeIfNotSlow(index) ? index : choice.Draw();
  }

 private:
  uint32_t next_;  // in the pool
};

}  // namespace farcall

#endif  // FARCALL_RPC_CLUSTER_BALANCE_ROUND_ROBIN_H_
