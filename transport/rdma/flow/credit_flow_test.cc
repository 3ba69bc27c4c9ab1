// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/flow/credit_flow.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transport/rdma/flow/credit_flow_testing.h"

namespace farcall {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint32_t kFirst = CreditFlow::kFirstCount;

TEST(CreditLimitsTest, DefaultsAreValid) { EXPECT_TRUE(CreditLimits().Validate().ok()); }

TEST(CreditLimitsTest, EachIsFourToSixteenThousand) {
  for (uint32_t CreditLimits::*field :
       {&CreditLimits::send_slots, &CreditLimits::receive_slots, &CreditLimits::peer_slots}) {
    CreditLimits limits;
    for (const uint32_t good : {4u, 16384u}) {
      limits.*field = good;
      EXPECT_TRUE(limits.Validate().ok()) << good;
    }
    for (const uint32_t bad : {0u, 3u, 16385u, ~0u}) {
      limits.*field = bad;
      EXPECT_FALSE(limits.Validate().ok()) << bad;
    }
  }
}

TEST(CreditLimitsTest, NotMoreIsGivenAtFirstThanEver) {
  CreditLimits limits = kEightOfEach;
  limits.initial_receives = 9;
  EXPECT_THAT(limits.Validate().message(), HasSubstr("initial_receives is 9, not 4 to 8"));
  limits = kEightOfEach;
  limits.initial_credits = 9;
  EXPECT_THAT(limits.Validate().message(), HasSubstr("initial_credits is 9, not 4 to 8"));
  limits.initial_credits = 3;
  EXPECT_FALSE(limits.Validate().ok());
}

TEST(CreditFlowTest, APeerStandsStillWithWhatIsForABareCountOnly) {
  CreditFlow flow(kEightOfEach);
  for (int i = 0; i < 7; ++i) {
    EXPECT_FALSE(flow.PeerStandsStill()) << i;
    ASSERT_TRUE(flow.OnMessage(kFirst + 8).ok());
  }
  EXPECT_TRUE(flow.PeerStandsStill());
  // One is not reported by a message of its own.
  flow.OnGranted(1);
  EXPECT_FALSE(flow.HasUpdate());
  EXPECT_TRUE(flow.PeerStandsStill());
  flow.OnGranted(1);
  EXPECT_TRUE(flow.HasUpdate());
  EXPECT_FALSE(flow.PeerStandsStill());
}

TEST(CreditFlowTest, DataLeavesOneCreditAndOneSlot) {
  CreditLimits limits = kEightOfEach;
  limits.send_slots = 5;
  EXPECT_EQ(CreditFlow(limits).Budget(), 4u);
  limits.send_slots = 16;
  EXPECT_EQ(CreditFlow(limits).Budget(), 7u);
}

TEST(CreditFlowTest, AMessageTakesOneOfEachAndAnnouncesAll) {
  CreditFlow flow(kEightOfEach);
  const SendPlan plan = flow.Send(/*last=*/true);
  EXPECT_EQ(plan.seq, kFirst);
  EXPECT_EQ(plan.count, kFirst + 8);
  EXPECT_TRUE(plan.signaled);
  EXPECT_EQ(flow.credits(), 7u);
  EXPECT_EQ(flow.free_slots(), 7u);
  EXPECT_EQ(flow.Send(true).seq, kFirst + 1);
}

TEST(CreditFlowTest, SlotsComeBackByCompletionsAndCreditsByCounts) {
  CreditFlow flow(kEightOfEach);
  while (flow.Budget() > 0) flow.Send(true);
  EXPECT_EQ(flow.OnCompleted(kFirst + 6), 7u);
  EXPECT_EQ(flow.free_slots(), 8u);
  EXPECT_EQ(flow.credits(), 1u);
  EXPECT_TRUE(flow.OnMessage(kFirst + 12).ok());
  EXPECT_EQ(flow.credits(), 5u);
  EXPECT_EQ(flow.Budget(), 4u);
}

TEST(CreditFlowTest, ACompletionFreesAllUpToIt) {
  CreditFlow flow(kEightOfEach);
  for (int i = 0; i < 4; ++i) flow.Send(false);
  EXPECT_EQ(flow.OnCompleted(kFirst + 1), 2u);
  EXPECT_EQ(flow.unfinished(), 2u);
  EXPECT_EQ(flow.OnCompleted(kFirst + 1), 0u);
  EXPECT_EQ(flow.OnCompleted(kFirst), 0u);
  EXPECT_EQ(flow.OnCompleted(kFirst + 3), 2u);
  EXPECT_EQ(flow.unfinished(), 0u);
}

TEST(CreditFlowDeathTest, OnlyWhatWasSentCompletes) {
  CreditFlow flow(kEightOfEach);
  EXPECT_DEATH(flow.OnCompleted(kFirst), "a completed message was sent");
  flow.Send(true);
  EXPECT_DEATH(flow.OnCompleted(kFirst + 1), "a completed message was sent");
}

TEST(CreditFlowDeathTest, NothingIsSentBeyondTheBudget) {
  CreditFlow flow(kEightOfEach);
  while (flow.Budget() > 0) flow.Send(true);
  EXPECT_DEATH(flow.Send(true), "within the budget");
}

TEST(CreditFlowDeathTest, NoMoreIsGivenThanItsLimit) {
  CreditFlow flow(kEightOfEach);
  EXPECT_TRUE(flow.OnMessage(kFirst + 8).ok());
  flow.OnGranted(1);
  EXPECT_DEATH(flow.OnGranted(1), "within their limit");
}

TEST(CreditFlowTest, AQuarterOfTheQueueTheLastAndTheEndOfTheBudgetAreSignaled) {
  CreditLimits limits = kEightOfEach;
  limits.send_slots = 16;
  limits.peer_slots = limits.initial_credits = 14;
  CreditFlow flow(limits);
  std::vector<bool> signaled;
  for (int i = 0; i < 6; ++i) signaled.push_back(flow.Send(i == 5).signaled);
  EXPECT_THAT(signaled, ElementsAre(false, false, false, true, false, true));
  signaled.clear();
  while (flow.Budget() > 0) signaled.push_back(flow.Send(false).signaled);
  EXPECT_THAT(signaled, ElementsAre(false, false, false, true, false, false, true));
}

TEST(CreditFlowTest, ABareCountComesForHalfOfTheWindow) {
  CreditFlow flow(kEightOfEach);
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(flow.HasUpdate()) << i;
    EXPECT_FALSE(flow.BareCount().has_value()) << i;
    ASSERT_TRUE(flow.OnMessage(kFirst + 8).ok());
    flow.OnGranted(1);
  }
  EXPECT_TRUE(flow.HasUpdate());
  const std::optional<SendPlan> plan = flow.BareCount();
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->count, kFirst + 12);
  EXPECT_TRUE(plan->signaled);
  EXPECT_FALSE(flow.BareCount().has_value());
}

TEST(CreditFlowTest, ABareCountComesSoonerWhereThePeerWaitsForMore) {
  CreditFlow flow(kEightOfEach);
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(flow.HasUpdate(/*soon=*/true)) << i;
    EXPECT_FALSE(flow.BareCount(/*soon=*/true).has_value()) << i;
    ASSERT_TRUE(flow.OnMessage(kFirst + 8).ok());
    flow.OnGranted(1);
  }
  EXPECT_FALSE(flow.HasUpdate());
  EXPECT_TRUE(flow.HasUpdate(/*soon=*/true));
  EXPECT_TRUE(flow.BareCount(/*soon=*/true).has_value());
  EXPECT_FALSE(flow.HasUpdate(/*soon=*/true)) << "all is reported";
}

TEST(CreditFlowTest, AMessageSavesTheBareCount) {
  CreditFlow flow(kEightOfEach);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(flow.OnMessage(kFirst + 8).ok());
  flow.OnGranted(4);
  EXPECT_EQ(flow.Send(true).count, kFirst + 12);
  EXPECT_FALSE(flow.BareCount().has_value());
}

TEST(CreditFlowTest, ABareCountTakesTheLastCreditAndNoMore) {
  CreditFlow flow(kEightOfEach);
  while (flow.Budget() > 0) flow.OnCompleted(flow.Send(true).seq);
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(flow.OnMessage(kFirst + 8).ok());
  flow.OnGranted(4);
  EXPECT_TRUE(flow.BareCount().has_value());
  flow.OnGranted(4);
  EXPECT_FALSE(flow.BareCount().has_value()) << "there is no credit";
}

TEST(CreditFlowTest, ASmallerWindowIsAnnouncedToo) {
  CreditFlow flow(kEightOfEach);
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(flow.OnMessage(kFirst + 8).ok());
  flow.OnGranted(1);
  EXPECT_FALSE(flow.BareCount().has_value()) << "one receive is no update";
  flow.OnGranted(1);
  EXPECT_TRUE(flow.BareCount().has_value());
}

TEST(CreditFlowTest, AGrowingWindowIsAnnouncedOnceItHasDoubled) {
  CreditLimits limits = kEightOfEach;
  limits.receive_slots = 64;
  CreditFlow flow(limits);
  flow.OnGranted(7);
  EXPECT_FALSE(flow.BareCount().has_value());
  flow.OnGranted(1);
  EXPECT_EQ(flow.BareCount()->count, kFirst + 16);
}

TEST(CreditFlowTest, RepeatedCountsChangeNothing) {
  CreditFlow flow(kEightOfEach);
  for (int i = 0; i < 6; ++i) flow.Send(true);
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(flow.OnMessage(kFirst + 10).ok());
    EXPECT_EQ(flow.credits(), 4u);
  }
}

// Messages come in the order in which they were sent.
TEST(CreditFlowTest, ACountThatMovesBackIsAnError) {
  for (const uint32_t back : {1u, 2u, 10u, 100u, 1u << 31}) {
    CreditFlow flow(kEightOfEach);
    for (int i = 0; i < 6; ++i) flow.Send(true);
    ASSERT_TRUE(flow.OnMessage(kFirst + 10).ok());
    const absl::Status error = flow.OnMessage(kFirst + 10 - back);
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(error.message(), HasSubstr(absl::StrCat("took back ", back, " of the receives")));
    EXPECT_EQ(flow.credits(), 4u);
  }
}

TEST(CreditFlowTest, ACountBeyondThePeersReceivesIsAnError) {
  CreditFlow flow(kEightOfEach);
  flow.Send(true);
  flow.Send(true);
  EXPECT_TRUE(flow.OnMessage(kFirst + 10).ok());
  const absl::Status error = flow.OnMessage(kFirst + 11);
  EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(error.message(), HasSubstr("more than the 8"));
  EXPECT_EQ(flow.credits(), 8u);
}

TEST(CreditFlowTest, AMessageWithoutACreditIsAnError) {
  CreditFlow flow(kEightOfEach);
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(flow.OnMessage(kFirst + 8).ok());
  flow.OnGranted(8);  // the peer does not know
  EXPECT_THAT(flow.OnMessage(kFirst + 8).message(), HasSubstr("without a credit"));
}

// Each window moves by 300, so all counts pass 2^32.
TEST(CreditFlowTest, CountsWrap) {
  CreditFlow flow(kEightOfEach);
  for (uint32_t i = 0; i < 300; ++i) {
    const SendPlan plan = flow.Send(true);
    EXPECT_EQ(plan.seq, kFirst + i);
    EXPECT_EQ(flow.OnCompleted(plan.seq), 1u);
    ASSERT_TRUE(flow.OnMessage(kFirst + 8 + i + 1).ok());
    flow.OnGranted(1);
    ASSERT_EQ(flow.Budget(), 7u);
  }
  EXPECT_EQ(flow.unannounced(), 1u);
}

}  // namespace
}  // namespace farcall
