// SPDX-License-Identifier: Apache-2.0

#include "rpc/cluster/balance/balancer.h"

#include "rpc/cluster/balance/consistent_hash.h"
#include "rpc/cluster/balance/least_latency.h"
#include "rpc/cluster/balance/round_robin.h"
#include "rpc/cluster/balance/uniform_random.h"
#include "rpc/cluster/balance/weighted_random.h"
#include "rpc/cluster/balance/weighted_round_robin.h"
#include "transport/base/check.h"

namespace farcall {

uint32_t Choice::Draw() const {
  const auto size = static_cast<uint32_t>(pool.size());
  for (int i = 0; i < kProposals; ++i) {
    const uint32_t index = pool[random.Below(size)];
    if (!Tried(index) && TakeIfNotSlow(index)) return index;
  }
  const uint32_t from = random.Below(size);
  for (uint32_t i = 0; i < size; ++i) {
    const uint32_t index = pool[(from + i) % size];
    if (!Tried(index)) return index;
  }
  Check(false, "one of the pool was not tried");
  return 0;
}

uint32_t Choice::DrawByWeight() const {
  const auto part = [this](uint32_t index) {
    return Tried(index) ? 0 : members[index].node.weight * Share(index);
  };
  double sum = 0;
  for (const uint32_t index : pool) sum += part(index);
  double at = random.Unit() * sum;
  uint32_t last = 0;
  for (const uint32_t index : pool) {
    const double mine = part(index);
    if (mine == 0) continue;
    last = index;
    if (at < mine) break;
    at -= mine;
  }
  return last;
}

std::unique_ptr<Balancer> Balancer::Make(const std::string& name, SplitMix& random) {
  if (name == "random") return std::make_unique<UniformRandom>();
  if (name == "wrr") return std::make_unique<WeightedRoundRobin>(random);
  if (name == "wr") return std::make_unique<WeightedRandom>();
  if (name == "la") return std::make_unique<LeastLatency>();
  if (name == "c_hash" || name == "c_murmurhash" || name == "c_md5" || name == "c_ketama") {
    return std::make_unique<ConsistentHash>();
  }
  Check(name == "rr", "the options were validated");
  return std::make_unique<RoundRobin>(random);
}

}  // namespace farcall
