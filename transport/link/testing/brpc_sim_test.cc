// SPDX-License-Identifier: Apache-2.0

#include "transport/link/testing/brpc_sim.h"

#include "gtest/gtest.h"
#include "transport/testing/seeds_here.h"

namespace farcall {
namespace {

TEST(BrpcSimTest, HandshakesEndWellOrLeaveNothing) {
  for (uint64_t seed = 1; seed <= SeedsHere(kBrpcSimSeeds); ++seed) {
    ASSERT_EQ(RunBrpcSim(seed), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace farcall
