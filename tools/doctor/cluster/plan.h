// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_DOCTOR_CLUSTER_PLAN_H_
#define FARCALL_TOOLS_DOCTOR_CLUSTER_PLAN_H_

#include <cstddef>
#include <vector>

namespace farcall::doctor {

// What is measured on one node, `from`, against another; nodes by number.
struct Path {
  size_t from = 0;
  size_t to = 0;
  bool operator==(const Path& other) const = default;
};

// Paths that are measured at the same time: no node is in two of them.
using Round = std::vector<Path>;

// Every path between `nodes` nodes once, in both directions, no more than `at_once` (from 1) in a
// round. Where `at_once` allows it each node that can is busy in each round.
std::vector<Round> RoundsOf(size_t nodes, size_t at_once);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_CLUSTER_PLAN_H_
