// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/testing/rail_cut_sim.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "transport/buffer/block_pool.h"
#include "transport/testing/seeds_here.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

std::string LogOfCut(uint64_t seed, BlockPool& pool) {
  std::string log;
  RunRailCutSim(seed, pool, &log);
  return log;
}

TEST(RailCutSimTest, CallsStopFor150MillisecondsAtMostForEachWayThatIsCut) {
  const auto pool = BlockPool::Create({});
  ASSERT_TRUE(pool.ok());
  const uint64_t seeds = SeedsHere(600);
  Duration longest{};
  uint64_t hit = 0;
  uint64_t calls = 0;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    const RailCutOutcome outcome = RunRailCutSim(seed, **pool, nullptr);
    ASSERT_EQ(outcome.failure, "") << "seed " << seed << "\n" << LogOfCut(seed, **pool);
    longest = std::max(longest, outcome.stopped);
    calls += outcome.calls;
    if (outcome.stopped >= kStop) ++hit;
  }
  // It met what it is about: calls that stop, and twice as long as one end takes to find out.
  EXPECT_GT(hit, seeds / 3);
  EXPECT_GT(longest, milliseconds(150));
  EXPECT_GT(calls, 50 * seeds);
  RecordProperty("longest_ms", static_cast<int>(longest / milliseconds(1)));
}

}  // namespace
}  // namespace farcall
