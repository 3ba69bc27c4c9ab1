// SPDX-License-Identifier: Apache-2.0

#include "transport/carrier/drain_mark.h"

#include <cstddef>

#include "gtest/gtest.h"

namespace farcall {
namespace {

constexpr size_t kHigh = 100;
constexpr size_t kLow = 10;

TEST(DrainMarkTest, IsDueOnceWhenWhatWasAboveTheHighMarkIsDownToTheLow) {
  DrainMark mark;
  mark.OnQueued(101, kHigh);
  EXPECT_FALSE(mark.OnLeft(11, kLow));
  EXPECT_FALSE(mark.due());
  EXPECT_TRUE(mark.OnLeft(10, kLow));
  EXPECT_TRUE(mark.due());
  EXPECT_FALSE(mark.OnLeft(0, kLow));
  EXPECT_TRUE(mark.Take());
  EXPECT_FALSE(mark.Take());
  EXPECT_FALSE(mark.OnLeft(0, kLow));
}

TEST(DrainMarkTest, BelowTheHighMarkNothingIsDue) {
  DrainMark mark;
  mark.OnQueued(100, kHigh);
  EXPECT_FALSE(mark.OnLeft(0, kLow));
  EXPECT_FALSE(mark.Take());
}

TEST(DrainMarkTest, WhatIsDueIsNotWhereMoreWasQueuedMeanwhile) {
  DrainMark mark;
  mark.OnQueued(200, kHigh);
  EXPECT_TRUE(mark.OnLeft(5, kLow));
  mark.OnQueued(50, kHigh);
  EXPECT_TRUE(mark.due());
  mark.OnQueued(101, kHigh);
  EXPECT_FALSE(mark.Take());
  EXPECT_TRUE(mark.OnLeft(0, kLow));
  EXPECT_TRUE(mark.Take());
}

}  // namespace
}  // namespace farcall
