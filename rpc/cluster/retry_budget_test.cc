// SPDX-License-Identifier: Apache-2.0

#include "rpc/cluster/retry_budget.h"

#include <gtest/gtest.h>

#include <chrono>

namespace farcall {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kFree = RetryBudget::kFreePerSecond;

class RetryBudgetTest : public testing::Test {
 protected:
  static int TakeAll(RetryBudget& budget, TimePoint now) {
    int taken = 0;
    while (taken < 100'000 && budget.Take(now)) ++taken;
    return taken;
  }
  static void Calls(RetryBudget& budget, int calls, TimePoint now) {
    for (int i = 0; i < calls; ++i) budget.OnCall(now);
  }

  TimePoint now_{seconds(1)};
};

TEST_F(RetryBudgetTest, TenASecondAreFree) {
  RetryBudget budget(0);
  for (int second = 0; second < 30; ++second) {
    EXPECT_EQ(TakeAll(budget, now_), kFree);
    EXPECT_EQ(TakeAll(budget, now_ + milliseconds(999)), 0);
    now_ += seconds(1);
  }
}

TEST_F(RetryBudgetTest, AShareOfTheCallsIsGivenBesides) {
  RetryBudget budget(0.2);
  Calls(budget, 1000, now_);
  EXPECT_EQ(TakeAll(budget, now_), kFree + 200);
  Calls(budget, 10, now_);
  EXPECT_EQ(TakeAll(budget, now_), 2);
}

TEST_F(RetryBudgetTest, ARatioMayBeAboveOne) {
  RetryBudget budget(10);
  Calls(budget, 100, now_);
  EXPECT_EQ(TakeAll(budget, now_), kFree + 1000);
}

TEST_F(RetryBudgetTest, CallsAreForgottenAfterTenSeconds) {
  RetryBudget budget(0.5);
  Calls(budget, 100, now_);
  EXPECT_EQ(TakeAll(budget, now_ + milliseconds(9900)), kFree + 50);
  Calls(budget, 100, now_ + milliseconds(9900));
  // The first hundred are too old, but so is nothing of what was taken.
  EXPECT_EQ(TakeAll(budget, now_ + milliseconds(10'500)), kFree);
  // And now both are.
  EXPECT_EQ(TakeAll(budget, now_ + seconds(30)), kFree);
  Calls(budget, 100, now_ + seconds(30));
  EXPECT_EQ(TakeAll(budget, now_ + seconds(30)), 50);
}

TEST_F(RetryBudgetTest, SlotsFallOutOneAfterTheOther) {
  RetryBudget budget(1);
  for (int second = 0; second < 10; ++second) Calls(budget, 10, now_ + seconds(second));
  // The first three seconds are ten seconds old.
  EXPECT_EQ(TakeAll(budget, now_ + seconds(12)), kFree + 70);
}

TEST_F(RetryBudgetTest, WhatIsGivenBackMayBeTakenAgain) {
  RetryBudget budget(0.5);
  Calls(budget, 100, now_);
  for (int i = 0; i < kFree + 50; ++i) {
    EXPECT_TRUE(budget.Take(now_));
    budget.GiveBack();
    EXPECT_TRUE(budget.Take(now_));
  }
  EXPECT_FALSE(budget.Take(now_));
  // A free one is not what the calls pay for.
  now_ += seconds(1);
  EXPECT_TRUE(budget.Take(now_));
  budget.GiveBack();
  EXPECT_EQ(TakeAll(budget, now_), kFree);
}

TEST_F(RetryBudgetTest, AnOutageIsNotMultiplied) {
  // Each of a thousand calls a second fails, and would be retried three times.
  RetryBudget budget(0.2);
  int sent = 0;
  for (int i = 0; i < 60'000; ++i) {
    now_ += milliseconds(1);
    budget.OnCall(now_);
    ++sent;
    for (int retry = 0; retry < 3 && budget.Take(now_); ++retry) ++sent;
  }
  EXPECT_LE(sent, 60'000 * 1.2 + 61 * kFree);
  EXPECT_GE(sent, 60'000 * 1.2) << "and what is allowed is given";
}

TEST_F(RetryBudgetTest, ABreakOfADayIsNoMatter) {
  RetryBudget budget(1);
  Calls(budget, 100, now_);
  now_ += std::chrono::hours(24);
  EXPECT_EQ(TakeAll(budget, now_), kFree);
}

}  // namespace
}  // namespace farcall
