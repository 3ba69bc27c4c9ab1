// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "transport/rdma/flow/credit_flow.h"
#include "transport/rdma/flow/flow_mutant_testing.h"
#include "transport/rdma/flow/flow_sim_testing.h"
#include "transport/testing/seeds_here.h"

namespace farcall {
namespace {

using testing::FlowSim;
using testing::MutantFlow;
using testing::Mutation;
using testing::SimShape;

// The first seed below `seeds` that goes wrong, and how; empty: none does.
template <typename Flow>
std::string FirstWrong(uint64_t seeds, const SimShape& shape) {
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const std::string wrong = FlowSim<Flow>(seed, shape).Run();
    if (!wrong.empty()) return absl::StrCat("seed ", seed, ": ", wrong);
  }
  return "";
}

TEST(CreditFlowSimTest, SmallWindowsOfItsOwnAndOfASharedQueue) {
  EXPECT_EQ(FirstWrong<CreditFlow>(SeedsHere(2000), {}), "");
}

TEST(CreditFlowSimTest, OneConnection) {
  EXPECT_EQ(FirstWrong<CreditFlow>(SeedsHere(1000), {.most_connections = 1}), "");
}

TEST(CreditFlowSimTest, TheSmallestWindows) {
  EXPECT_EQ(FirstWrong<CreditFlow>(SeedsHere(1000), {.most_window = 4}), "");
}

TEST(CreditFlowSimTest, LargeWindows) {
  EXPECT_EQ(FirstWrong<CreditFlow>(SeedsHere(200), {.most_window = 512, .steps = 2000}), "");
}

TEST(CreditFlowSimTest, ManyConnections) {
  EXPECT_EQ(FirstWrong<CreditFlow>(SeedsHere(20), {.most_connections = 40, .steps = 4000}), "");
}

TEST(CreditFlowSimTest, TheSimulationMovesMessages) {
  uint64_t messages = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    FlowSim<CreditFlow> sim(seed, {});
    EXPECT_EQ(sim.Run(), "");
    messages += sim.messages();
  }
  EXPECT_GT(messages, 10000u);
}

// A mutant must be caught by a fifth of the seeds, for the reason that its rule is there.
template <Mutation M>
void ExpectCaught(const std::string& how, const SimShape& shape = {}) {
  const std::string wrong = FirstWrong<MutantFlow<M>>(400, shape);
  EXPECT_NE(wrong.find(how), std::string::npos) << "it went: " << wrong;
}

constexpr char kStill[] = "they stand still";
constexpr char kNoReceive[] = "a credit has no receive";

TEST(CreditFlowMutantTest, WithoutMutationItGoesWell) {
  EXPECT_EQ(FirstWrong<MutantFlow<Mutation::kNone>>(SeedsHere(400), {}), "");
}

TEST(CreditFlowMutantTest, AReserveIsNeeded) {
  ExpectCaught<Mutation::kNoReserve>(kStill);
  ExpectCaught<Mutation::kNoCreditReserve>(kStill);
}
TEST(CreditFlowMutantTest, ACompletionGivesNoCredit) {
  ExpectCaught<Mutation::kCreditsByCompletion>("a credit");
  ExpectCaught<Mutation::kCreditsAndCompletions>("a credit");
}
TEST(CreditFlowMutantTest, AnUpdateIsHalfOfTheWindow) {
  ExpectCaught<Mutation::kWholeWindow>(kStill);
  ExpectCaught<Mutation::kFixedHalf>(kStill);
}
TEST(CreditFlowMutantTest, OneReceiveIsNoUpdate) {
  ExpectCaught<Mutation::kAlwaysEnough>("chatter");
  ExpectCaught<Mutation::kOneIsEnough>(
      "chatter", {.shared_queues = false, .least_window = 2, .most_window = 2});
}
TEST(CreditFlowMutantTest, CountsWrapAndAreCumulative) {
  ExpectCaught<Mutation::kWrapUnsafe>(kStill);
  ExpectCaught<Mutation::kCountIsMore>("a credit");
}
TEST(CreditFlowMutantTest, ACompletionFreesAllSlotsUpToIt) {
  ExpectCaught<Mutation::kSlotPerCompletion>("never released");
}
TEST(CreditFlowMutantTest, SignalsComeInTime) {
  ExpectCaught<Mutation::kSignalsQuartersOnly>("never released");
  ExpectCaught<Mutation::kSignalsLastOnly>("without a signal");
}
TEST(CreditFlowMutantTest, WhatWasAnnouncedIsNoUpdate) {
  ExpectCaught<Mutation::kForgetsToAnnounce>(kStill);
}
TEST(CreditFlowMutantTest, WindowsBelowFourStandStill) {
  ExpectCaught<Mutation::kNone>(kStill,
                                {.shared_queues = false, .least_window = 2, .most_window = 2});
}
TEST(CreditFlowMutantTest, TheReceiveOfABareCountComesBackAtOnce) {
  ExpectCaught<Mutation::kNone>(kStill, {.faults = {.keeps_bare_receives = true}});
}
TEST(CreditFlowMutantTest, ReceivesArePostedBeforeTheyAreGiven) {
  ExpectCaught<Mutation::kNone>(
      kNoReceive, {.shared_queues = false, .faults = {.grants_before_posting = true}});
}

}  // namespace
}  // namespace farcall
