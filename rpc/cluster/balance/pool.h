// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CLUSTER_BALANCE_POOL_H_
#define FARCALL_RPC_CLUSTER_BALANCE_POOL_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rpc/cluster/balance/member.h"
#include "transport/base/time.h"

namespace farcall {

// Which members calls are given to: those that live. Where none does, the least bad of those that
// the breaker took out, since they can be reached; where it took none out, those that cannot. Pure.
class Pool {
 public:
  // What a member is, or how many there are, changed. Allocates only when there are more members
  // than ever.
  void Rebuild(std::vector<Member>& members);

  // Indices of members, ascending.
  const std::vector<uint32_t>& members() const { return pool_; }
  bool live() const { return live_; }
  // One more may be taken out by the breaker: at most half of those that can be reached are.
  bool one_more_may_break() const { return (broken_ + 1) * 2 <= reachable_; }
  bool too_many_are_broken() const { return broken_ * 2 > reachable_; }
  // The largest part of a full share that any of the pool has: what the others' are relative to.
  // Where all start slowly, none is held back.
  double LargestShare(TimePoint now) const { return largest_.over(now) ? 1 : largest_.Share(now); }
  // Of the mean latencies of the others in the pool, in nanoseconds. 0: none of them has had enough
  // calls.
  double MedianLatencyBeside(const Member& member, const std::vector<Member>& members);
  // When the first of those that the breaker took out comes back; max(): none.
  TimePoint next_return() const { return next_return_; }

 private:
  std::vector<uint32_t> pool_;
  std::vector<double> latencies_;  // of MedianLatencyBeside, kept for its memory
  bool live_ = false;
  size_t reachable_ = 0;
  size_t broken_ = 0;
  SlowStart largest_;
  TimePoint next_return_ = TimePoint::max();
};

}  // namespace farcall

#endif  // FARCALL_RPC_CLUSTER_BALANCE_POOL_H_
