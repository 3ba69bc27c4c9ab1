// SPDX-License-Identifier: Apache-2.0

#include "transport/base/backoff.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace farcall {
namespace {

using std::chrono::milliseconds;

TEST(SplitMixTest, NumbersAreInTheirRangeAndSpread) {
  SplitMix random(7);
  std::vector<int> counts(10);
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    ++counts[random.Below(10)];
    const double unit = random.Unit();
    ASSERT_GE(unit, 0);
    ASSERT_LT(unit, 1);
    sum += unit;
  }
  for (const int count : counts) EXPECT_NEAR(count, 1000, 200);
  EXPECT_NEAR(sum, 5000, 200);
  EXPECT_EQ(SplitMix(7).Next(), SplitMix(7).Next());
  EXPECT_NE(SplitMix(7).Next(), SplitMix(8).Next());
}

TEST(BackoffTest, DoublesUpToTheLongestAndIsCutByAtMostAQuarter) {
  SplitMix random(1);
  Backoff backoff(milliseconds(10), milliseconds(70));
  Duration shortest = milliseconds(70);
  for (const int whole : {10, 20, 40, 70, 70}) {
    const Duration next = backoff.Next(random);
    EXPECT_LE(next, milliseconds(whole));
    EXPECT_GE(next, milliseconds(whole) * 3 / 4);
    EXPECT_EQ(backoff.pause(), milliseconds(whole));
  }
  for (int i = 0; i < 1000; ++i) shortest = std::min(shortest, backoff.Next(random));
  EXPECT_LT(shortest, milliseconds(70) * 4 / 5);
  backoff.Reset();
  EXPECT_EQ(backoff.pause(), Duration::zero());
  EXPECT_EQ(backoff.NextUncut(), milliseconds(10));
}

TEST(BackoffTest, IsCutByAtMostAHalfWithNumbersOfItsOwn) {
  Backoff backoff(milliseconds(10), milliseconds(70), /*random=*/1);
  Duration shortest = milliseconds(70);
  for (int i = 0; i < 1000; ++i) {
    const Duration next = backoff.Next();
    EXPECT_LE(next, backoff.pause());
    EXPECT_GE(next, backoff.pause() / 2);
    if (i >= 3) shortest = std::min(shortest, next);
  }
  EXPECT_LT(shortest, milliseconds(70) * 3 / 5);
}

}  // namespace
}  // namespace farcall
