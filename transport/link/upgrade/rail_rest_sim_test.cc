// SPDX-License-Identifier: Apache-2.0

#include "gtest/gtest.h"
#include "transport/link/upgrade/testing/rest_sim.h"
#include "transport/testing/seeds_here.h"

namespace farcall {
namespace {

TEST(RailRestSimTest, ARailThatErrsRestsAndTheOthersDoNot) {
  for (uint64_t seed = 1; seed <= SeedsHere(100); ++seed) {
    ASSERT_EQ(RunRestSim(seed), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace farcall
