// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "transport/rdma/flow/brpc_sim_testing.h"
#include "transport/testing/seeds_here.h"

namespace farcall {
namespace {

using testing::BrpcSim;

// The first seed below `seeds` that goes wrong, and how; empty: none does.
std::string FirstWrongOfBrpc(uint64_t seeds, uint16_t most_slots, int steps) {
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const std::string wrong = BrpcSim(seed, most_slots).Run(steps);
    if (!wrong.empty()) return absl::StrCat("seed ", seed, ": ", wrong);
  }
  return "";
}

TEST(BrpcCreditsSimTest, SmallWindows) {
  EXPECT_EQ(FirstWrongOfBrpc(SeedsHere(4000), 40, 600), "");
}

TEST(BrpcCreditsSimTest, TheLeastThatIsAllowed) {
  EXPECT_EQ(FirstWrongOfBrpc(SeedsHere(2000), 16, 600), "");
}

TEST(BrpcCreditsSimTest, TheMostThatBrpcAllows) {
  EXPECT_EQ(FirstWrongOfBrpc(SeedsHere(40), 4096, 3000), "");
}

TEST(BrpcCreditsSimTest, TheSimulationMovesMessages) {
  uint64_t messages = 0, bare = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    BrpcSim sim(seed);
    EXPECT_EQ(sim.Run(), "");
    messages += sim.messages();
    bare += sim.bare();
  }
  EXPECT_GT(messages, 20'000u);
  EXPECT_GT(bare, 500u);
}

}  // namespace
}  // namespace farcall
