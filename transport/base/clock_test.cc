// SPDX-License-Identifier: Apache-2.0

#include "transport/base/clock.h"

#include <gtest/gtest.h>

namespace farcall {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

TEST(SteadyClockTest, NeverGoesBack) {
  const SteadyClock clock;
  TimePoint last = clock.Now();
  for (int i = 0; i < 10'000; ++i) {
    const TimePoint now = clock.Now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(ManualClockTest, StandsStillUntilItIsMoved) {
  ManualClock clock;
  const TimePoint start = clock.Now();
  EXPECT_EQ(clock.Now(), start);
  clock.Advance(nanoseconds(1));
  EXPECT_EQ(clock.Now(), start + nanoseconds(1));
  clock.Advance(seconds(5));
  EXPECT_EQ(clock.Now(), start + seconds(5) + nanoseconds(1));
}

TEST(ManualClockTest, BeginsAfterTheEpochSoThatPastTimesCanBeNamed) {
  EXPECT_GT(ManualClock().Now(), TimePoint{});
}

TEST(ManualClockTest, AdvanceToGoesForwardOnly) {
  ManualClock clock;
  const TimePoint start = clock.Now();
  clock.AdvanceTo(start + seconds(2));
  EXPECT_EQ(clock.Now(), start + seconds(2));
  clock.AdvanceTo(start);
  EXPECT_EQ(clock.Now(), start + seconds(2));
}

}  // namespace
}  // namespace farcall
