// SPDX-License-Identifier: Apache-2.0
//
// Passes if the simulation finds something wrong with the placement of requests it is linked with,
// or the code sees by itself (Check) that a rule is broken.

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "rpc/session/server/testing/placing_run.h"

int main() {
  std::signal(SIGABRT, [](int) { std::_Exit(0); });
  constexpr uint64_t kSeeds = 400;  // a fifth of those of request_place_sim_test
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const farcall::PlacingOutcome outcome = farcall::RunPlacing(seed);
    if (outcome.violation.empty()) continue;
    std::printf("caught at seed %llu: %s\n", static_cast<unsigned long long>(seed),
                outcome.violation.c_str());
    return 0;
  }
  std::printf("%llu seeds found nothing\n", static_cast<unsigned long long>(kSeeds));
  return 1;
}
