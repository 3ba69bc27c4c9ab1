// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "transport/buffer/block_pool.h"
#include "transport/link/stream/testing/stream_sim.h"
#include "transport/link_options.h"
#include "transport/testing/seeds_here.h"

namespace farcall {
namespace {

std::string Log(uint64_t seed, BlockPool& pool) {
  std::string log;
  StreamSimStats stats;
  RunStreamSim(seed, pool, stats, &log);
  return log;
}

TEST(SwitchingStreamSimTest, EveryByteOnceAndInOrderWhateverHappens) {
  const auto pool = BlockPool::Create({});
  ASSERT_TRUE(pool.ok());
  const uint64_t seeds = SeedsHere(40000);  // half of them have several rails
  StreamSimStats stats;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    const std::string failure = RunStreamSim(seed, **pool, stats, nullptr);
    ASSERT_EQ(failure, "") << "seed " << seed << "\n" << Log(seed, **pool);
  }
  // It met what it is about.
  EXPECT_GT(stats.upgrades, 2 * seeds);
  EXPECT_GT(stats.fallbacks, seeds / 2);
  EXPECT_GT(stats.rails_lost, seeds / 2);
  EXPECT_GT(stats.resent_bytes, 10 * seeds);
  EXPECT_GT(stats.dropped_bytes, seeds);
  EXPECT_GT(stats.delivered_bytes, 100 * seeds);
  EXPECT_GT(stats.pings, seeds);
  EXPECT_GT(stats.orderly_ends, seeds);
  EXPECT_GT(stats.early_bytes, 5 * seeds);
  EXPECT_EQ(stats.rails_at_once, kMaxRails);
}

}  // namespace
}  // namespace farcall
