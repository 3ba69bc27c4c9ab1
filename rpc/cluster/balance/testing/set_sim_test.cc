// SPDX-License-Identifier: Apache-2.0

#include "rpc/cluster/balance/testing/set_sim.h"

#include <gtest/gtest.h>

#include "transport/testing/seeds_here.h"

namespace farcall {
namespace {

// Four of them, for four shards.
class SetSimTest : public testing::TestWithParam<uint64_t> {};

TEST_P(SetSimTest, EachServerHasItsShareWheneverItCan) {
  const uint64_t seeds = SeedsHere(100);
  SetSimStats stats;
  for (uint64_t seed = GetParam() * seeds + 1; seed <= (GetParam() + 1) * seeds; ++seed) {
    ASSERT_EQ(RunSetSim(seed, stats), "") << "seed " << seed;
  }
  // It came to what it is for.
  EXPECT_GT(stats.calls, 1000 * seeds);
  EXPECT_GT(stats.retries, 10 * seeds);
  EXPECT_GT(stats.refused_retries, seeds);
  EXPECT_GT(stats.probes, seeds);
  EXPECT_GT(stats.broken, seeds);
  EXPECT_GT(stats.slow, seeds);
  EXPECT_GT(stats.none_lives, seeds);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SetSimTest, testing::Range<uint64_t>(0, 4));

}  // namespace
}  // namespace farcall
