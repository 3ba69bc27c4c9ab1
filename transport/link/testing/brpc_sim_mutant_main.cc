// SPDX-License-Identifier: Apache-2.0
//
// Passes if the simulation finds something wrong with brpc's handshake that it is linked with.

#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <string>

#include "transport/link/testing/brpc_sim.h"

int main() {
  // A Check that does not hold finds it out, too.
  std::signal(SIGABRT, [](int) { _exit(0); });
  for (uint64_t seed = 1; seed <= farcall::kBrpcSimSeeds / 5; ++seed) {
    const std::string wrong = farcall::RunBrpcSim(seed);
    if (wrong.empty()) continue;
    std::printf("caught at seed %llu: %s\n", static_cast<unsigned long long>(seed), wrong.c_str());
    return 0;
  }
  std::printf("nothing was found\n");
  return 1;
}
