// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/drive/spin.h"

#include <gtest/gtest.h>

#include "transport/base/clock.h"

namespace farcall {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

TEST(SpinTest, TheFirstTryAsksForNoTime) {
  class Untouched final : public Clock {
   public:
    TimePoint Now() const override {
      ADD_FAILURE() << "it is not asked";
      return TimePoint();
    }
  } clock;
  EXPECT_TRUE(SpinFor(clock, microseconds(20), [] { return true; }));
}

// However long a try takes: on a slow processor there are fewer.
TEST(SpinTest, EndsByTimeAndNotByTries) {
  for (const nanoseconds each : {nanoseconds(2), nanoseconds(50), nanoseconds(1000)}) {
    SCOPED_TRACE(each.count());
    ManualClock clock;
    const TimePoint begin = clock.Now();
    int tries = 0;
    EXPECT_FALSE(SpinFor(clock, microseconds(20), [&] {
      clock.Advance(each);
      ++tries;
      return false;
    }));
    const Duration taken = clock.Now() - begin;
    EXPECT_GE(taken, microseconds(20));
    EXPECT_LE(taken, microseconds(20) + 17 * each);
    EXPECT_GE(tries, 1);
  }
}

TEST(SpinTest, EndsWithTheTryThatSucceeds) {
  ManualClock clock;
  int tries = 0;
  EXPECT_TRUE(SpinFor(clock, microseconds(20), [&] { return ++tries == 100; }));
  EXPECT_EQ(tries, 100);
}

}  // namespace
}  // namespace farcall
