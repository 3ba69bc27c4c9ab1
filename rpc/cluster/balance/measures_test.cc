// SPDX-License-Identifier: Apache-2.0

#include "rpc/cluster/balance/measures.h"

#include <gtest/gtest.h>

#include <chrono>

namespace farcall {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kNow{seconds(1)};

TEST(MovingMeanTest, IsExactUpToTheWindowAndThenMoves) {
  MovingMean mean;
  EXPECT_EQ(mean.mean(), 0);
  for (const double value : {2.0, 4.0, 6.0, 8.0}) mean.Add(value, 4);
  EXPECT_DOUBLE_EQ(mean.mean(), 5);
  EXPECT_EQ(mean.count(), 4u);
  mean.Add(9, 4);
  EXPECT_DOUBLE_EQ(mean.mean(), 6);
  EXPECT_EQ(mean.count(), 4u);
  mean.Reset();
  EXPECT_EQ(mean.count(), 0u);
}

TEST(CallWindowTest, KeepsAWindowAndAtMostATenthMore) {
  for (const uint32_t size : {10u, 11u, 19u, 100u, 100'000u}) {
    SCOPED_TRACE(size);
    CallWindow window(size);
    for (uint32_t i = 1; i < size; ++i) window.Add(true);
    EXPECT_FALSE(window.full());
    window.Add(true);
    EXPECT_TRUE(window.full());
    uint32_t calls = 0;
    while (window.failures() > 0 && calls < 2 * size) {
      window.Add(false);
      ++calls;
      ASSERT_TRUE(window.full()) << "once full it stays full";
    }
    EXPECT_GE(calls, size);
    EXPECT_LE(calls, size + size / 10 + 11);
    window.Reset();
    EXPECT_FALSE(window.full());
    EXPECT_EQ(window.error_rate(), 0);
  }
}

TEST(SlowStartTest, TheShareGrowsInAStraightLine) {
  SlowStart start;
  EXPECT_EQ(start.Share(kNow), 1);
  start.Begin(kNow, milliseconds(1000));
  EXPECT_DOUBLE_EQ(start.Share(kNow), 0.05);
  EXPECT_DOUBLE_EQ(start.Share(kNow + milliseconds(500)), 0.525);
  EXPECT_NEAR(start.Share(kNow + milliseconds(999)), 0.999, 0.001);
  EXPECT_FALSE(start.over(kNow + milliseconds(999)));
  EXPECT_EQ(start.Share(kNow + milliseconds(1000)), 1);
  start.Begin(kNow, Duration::zero());
  EXPECT_EQ(start.Share(kNow), 1);
  start.Begin(kNow, milliseconds(1000));
  start.End();
  EXPECT_EQ(start.Share(kNow), 1);
}

TEST(CostTest, OfANewServerNothingIsKnown) {
  Cost cost;
  EXPECT_EQ(cost.At(kNow, 5), 5);
  cost.Add(100, kNow, 5);
  EXPECT_EQ(cost.At(kNow, 5), 100) << "its first call is all that is known of it";
}

TEST(CostTest, WhatIsWorseThanUsualFadesAndWhatIsBetterStays) {
  Cost cost;
  cost.Add(100, kNow, 10);
  EXPECT_DOUBLE_EQ(cost.At(kNow + seconds(1), 10), 55);
  EXPECT_DOUBLE_EQ(cost.At(kNow + seconds(2), 10), 10);
  EXPECT_DOUBLE_EQ(cost.At(kNow + seconds(200), 10), 10);
  EXPECT_DOUBLE_EQ(cost.At(kNow + seconds(200), 1000), 100);
  // What faded is forgotten.
  for (int i = 0; i < 16; ++i) cost.Add(10, kNow + seconds(4), 10);
  EXPECT_DOUBLE_EQ(cost.At(kNow + seconds(4), 10), 10);
}

TEST(CostTest, FollowsTheLastCalls) {
  Cost cost;
  for (int i = 0; i < 100; ++i) cost.Add(1, kNow, 1);
  for (int i = 0; i < 16; ++i) cost.Add(100, kNow, 1);
  EXPECT_GT(cost.At(kNow, 1), 60);
}

}  // namespace
}  // namespace farcall
