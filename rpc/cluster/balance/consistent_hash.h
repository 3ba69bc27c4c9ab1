// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CLUSTER_BALANCE_CONSISTENT_HASH_H_
#define FARCALL_RPC_CLUSTER_BALANCE_CONSISTENT_HASH_H_

#include <vector>

#include "rpc/cluster/balance/balancer.h"

namespace farcall {

// "c_hash": members have points on a ring, in proportion to their weights, and a request code
// belongs to the next point. The same in all processes and runs, by XXH3 of address and tag.
//
// 128 points for each unit of weight; where the largest weight is above 8, half as many for each
// doubling, so that no member has more than 1024. A member that goes moves only its own codes,
// unless it was the only one whose weight called for the last halving.
//
// Slow start: a server that is back takes its codes over one after the other, in an
// order by their hash, and not some calls of each: each code moves once, so that what a server
// keeps in memory for it is filled once. Pure.
class ConsistentHash final : public Balancer {
 public:
  void OnMembers(const std::vector<Member>& members) override;
  uint32_t Pick(const Choice& choice) override;

 private:
  struct Point {
    uint64_t hash;
    uint32_t index;
  };
  // May have `code` now, as far as its slow start goes.
  bool Accepts(const Choice& choice, uint32_t index, uint64_t code) const;
  uint32_t PickWithoutRing(const Choice& choice, uint64_t code) const;

  std::vector<Point> ring_;         // by hash
  std::vector<uint64_t> identity_;  // by index of member
};

}  // namespace farcall

#endif  // FARCALL_RPC_CLUSTER_BALANCE_CONSISTENT_HASH_H_
