// SPDX-License-Identifier: Apache-2.0
//
// Passes if the simulation finds something wrong with the ReadChoice it is linked with.

#include <cstdint>
#include <cstdio>
#include <string>

#include "transport/rdma/flow/testing/read_choice_sim.h"

int main() {
  constexpr uint64_t kSeeds = 20;  // as many as read_choice_test
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const std::string failure = farcall::RunReadChoiceSim(seed);
    if (failure.empty()) continue;
    std::printf("caught at seed %llu: %s\n", static_cast<unsigned long long>(seed),
                failure.c_str());
    return 0;
  }
  std::printf("%llu seeds found nothing\n", static_cast<unsigned long long>(kSeeds));
  return 1;
}
