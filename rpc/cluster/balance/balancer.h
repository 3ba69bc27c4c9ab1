// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CLUSTER_BALANCE_BALANCER_H_
#define FARCALL_RPC_CLUSTER_BALANCE_BALANCER_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rpc/cluster/balance/member.h"
#include "rpc/cluster/balance/pool.h"
#include "transport/base/split_mix.h"
#include "transport/base/time.h"

namespace farcall {

// What one choice is made from. At least one member of the pool was not tried.
//
// Slow start works in the same way for all balancers: one is proposed as though all had their full
// share, and taken with the chance that its part of it is; else another is proposed.
struct Choice {
  // Proposals before one is taken that is still slow: no choice takes forever.
  static constexpr int kProposals = 16;

  bool Tried(uint32_t index) const {
    return !tried.empty() &&
           std::find(tried.begin(), tried.end(), members[index].id) != tried.end();
  }
  // 0 to 1, of the one of the pool that has the most.
  double Share(uint32_t index) const {
    const SlowStart& slow_start = members[index].slow_start;
    return slow_start.over(now) ? 1 : slow_start.Share(now) / largest_share;
  }
  bool TakeIfNotSlow(uint32_t index) const {
    return members[index].slow_start.over(now) || random.Unit() < Share(index);
  }
  // Any of the pool that was not tried, each as likely but for its slow start.
  uint32_t Draw() const;
  // The same by weight, exactly and in O(n): for retries, where the heaviest may be the tried one.
  uint32_t DrawByWeight() const;

  const std::vector<Member>& members;
  const std::vector<uint32_t>& pool;  // indices of members, ascending
  std::span<const uint32_t> tried;    // ids
  std::optional<uint64_t> request_code;
  TimePoint now;
  double largest_share;
  double typical_cost;  // nanoseconds: the mean of all members' calls
  SplitMix& random;
};

// One way to choose. Pure.
class Balancer {
 public:
  // `name` is one of ChannelOptions::load_balancer.
  static std::unique_ptr<Balancer> Make(const std::string& name, SplitMix& random);

  virtual ~Balancer() = default;
  // There are other members than before, or their weights changed; OnPool follows.
  virtual void OnMembers(const std::vector<Member>&) {}
  // `pool` has members that it had not, or lost some.
  virtual void OnPool(const std::vector<Member>&, const std::vector<uint32_t>&) {}
  // The index of a member that is in the pool and was not tried. Does not allocate.
  virtual uint32_t Pick(const Choice& choice) = 0;
};

}  // namespace farcall

#endif  // FARCALL_RPC_CLUSTER_BALANCE_BALANCER_H_
