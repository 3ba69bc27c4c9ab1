// SPDX-License-Identifier: Apache-2.0
//
// Passes if the simulation finds something wrong with the BrpcCredits that it is linked with.

#include <cstdint>
#include <cstdio>
#include <string>

#include "transport/rdma/flow/brpc_sim_testing.h"

int main() {
  constexpr uint64_t kSeeds = 800;  // a fifth of what brpc_credits_sim_test runs
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const std::string wrong = farcall::testing::BrpcSim(seed).Run();
    if (wrong.empty()) continue;
    std::printf("caught at seed %llu: %s\n", static_cast<unsigned long long>(seed), wrong.c_str());
    return 0;
  }
  std::printf("%llu seeds found nothing\n", static_cast<unsigned long long>(kSeeds));
  return 1;
}
