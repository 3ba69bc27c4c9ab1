// SPDX-License-Identifier: Apache-2.0
//
// Who may write when to the memory that a service gave for attachments, and how each ends, over
// many seeds.

#include <gtest/gtest.h>

#include <cstdint>

#include "rpc/session/server/testing/placing_run.h"
#include "transport/testing/seeds_here.h"

namespace farcall {
namespace {

const uint64_t kSeeds = SeedsHere(2000);

TEST(RequestPlaceSimTest, MemoryComesBackOnceAndIsNotWrittenAfterwards) {
  PlacingOutcome sum;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const PlacingOutcome outcome = RunPlacing(seed);
    ASSERT_EQ(outcome.violation, "") << "seed " << seed;
    sum.handled += outcome.handled;
    sum.in_place += outcome.in_place;
    sum.failed += outcome.failed;
    sum.late += outcome.late;
    sum.held += outcome.held;
    sum.landed += outcome.landed;
  }
  // What the simulation is for did happen.
  const int runs = static_cast<int>(kSeeds);
  EXPECT_GT(sum.handled, runs);
  EXPECT_GT(sum.in_place, runs / 2);
  EXPECT_GT(sum.failed, runs / 8);
  EXPECT_GT(sum.late, runs / 100);
  EXPECT_GT(sum.held, runs / 100);
  EXPECT_GT(sum.landed, static_cast<uint64_t>(runs) * 10);
}

}  // namespace
}  // namespace farcall
