// SPDX-License-Identifier: Apache-2.0

#include "rpc/cluster/balance/testing/set_sim.h"

#include <gtest/gtest.h>

#include "transport/testing/sim_harness.h"

namespace farcall {
namespace {

constexpr uint64_t kSeeds = SeedsHere(500);

// Four of them, for four shards.
class SetSimTest : public testing::TestWithParam<uint64_t> {};

TEST_P(SetSimTest, EachServerHasItsShareWheneverItCan) {
  SetSimStats stats;
  for (uint64_t seed = GetParam() * kSeeds + 1; seed <= (GetParam() + 1) * kSeeds; ++seed) {
    ASSERT_EQ(RunSetSim(seed, stats), "") << "seed " << seed;
  }
  // It came to what it is for.
  EXPECT_GT(stats.calls, 1000 * kSeeds);
  EXPECT_GT(stats.retries, 10 * kSeeds);
  EXPECT_GT(stats.refused_retries, kSeeds);
  EXPECT_GT(stats.probes, kSeeds);
  EXPECT_GT(stats.broken, kSeeds);
  EXPECT_GT(stats.slow, kSeeds);
  EXPECT_GT(stats.none_lives, kSeeds);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SetSimTest, testing::Range<uint64_t>(0, 4));

}  // namespace
}  // namespace farcall
