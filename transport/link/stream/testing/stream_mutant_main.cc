// SPDX-License-Identifier: Apache-2.0
//
// Passes if a simulation finds something wrong with the stream it is linked with.

#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <string>

#include "transport/base/check.h"
#include "transport/buffer/block_pool.h"
#include "transport/link/stream/testing/bulk_sim.h"
#include "transport/link/stream/testing/rail_cut_sim.h"
#include "transport/link/stream/testing/stream_sim.h"

namespace {

// A Check that does not hold is as good a way of being found out.
void CaughtByCheck(int) { _exit(0); }

}  // namespace

int main() {
  constexpr uint64_t kSeeds = 40000;   // as many as switching_stream_sim_test
  constexpr uint64_t kCutSeeds = 600;  // and rail_cut_sim_test
  std::signal(SIGABRT, CaughtByCheck);
  auto pool = farcall::BlockPool::Create({});
  farcall::Check(pool.ok(), "there is memory for a pool");
  if (const std::string failure = farcall::CheckBulk(); !failure.empty()) {
    std::printf("caught with bulk: %s\n", failure.c_str());
    return 0;
  }
  farcall::StreamSimStats stats;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    std::string failure = farcall::RunStreamSim(seed, **pool, stats, nullptr);
    if (failure.empty() && seed <= kCutSeeds) {
      failure = farcall::RunRailCutSim(seed, **pool, nullptr).failure;
    }
    if (failure.empty()) continue;
    std::printf("caught at seed %llu: %s\n", static_cast<unsigned long long>(seed),
                failure.c_str());
    // The stream is left as it broke; its blocks with it.
    std::fflush(stdout);
    _exit(0);
  }
  std::printf("%llu seeds found nothing\n", static_cast<unsigned long long>(kSeeds));
  return 1;
}
