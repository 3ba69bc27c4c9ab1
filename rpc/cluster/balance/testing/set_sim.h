// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CLUSTER_BALANCE_TESTING_SET_SIM_H_
#define FARCALL_RPC_CLUSTER_BALANCE_TESTING_SET_SIM_H_

#include <cstdint>
#include <string>

namespace farcall {

// What happened over all seeds, to see that the simulation comes to what it is for.
struct SetSimStats {
  uint64_t calls = 0;
  uint64_t retries = 0;
  uint64_t refused_retries = 0;  // by the budget
  uint64_t probes = 0;
  uint64_t broken = 0;  // views of servers that the breaker took out
  uint64_t slow = 0;    // that start slowly
  uint64_t none_lives = 0;
};

// A channel's servers die, come back, slow down, fail a share of their calls, leave, are added and
// removed, and calls go to them; then all is well, and each must have its share again. What is
// wrong, or "".
std::string RunSetSim(uint64_t seed, SetSimStats& stats);

}  // namespace farcall

#endif  // FARCALL_RPC_CLUSTER_BALANCE_TESTING_SET_SIM_H_
