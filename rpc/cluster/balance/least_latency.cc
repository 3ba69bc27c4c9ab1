// SPDX-License-Identifier: Apache-2.0

#include "rpc/cluster/balance/least_latency.h"

#include <algorithm>

namespace farcall {
namespace {

// What is less than so many times another is the same: noise would else decide, and who
// lost by it would get no call to show better.
constexpr double kSame = 1.25;

}  // namespace

double LeastLatency::Score(const Choice& choice, uint32_t index) {
  const Member& member = choice.members[index];
  const double cost = member.cost.At(choice.now, choice.typical_cost);
  // Below a nanosecond nothing is known either, and the calls in flight must still count.
  return std::max(cost, 1.0) * (member.in_flight + 1);
}

uint32_t LeastLatency::Pick(const Choice& choice) {
  const uint32_t one = choice.Draw();
  if (choice.pool.size() <= choice.tried.size() + 1) return one;
  uint32_t other = one;
  for (int i = 0; i < Choice::kProposals && other == one; ++i) other = choice.Draw();
  return Score(choice, one) <= kSame * Score(choice, other) ? one : other;
}

}  // namespace farcall
