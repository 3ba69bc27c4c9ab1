// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/rails/rate_meter.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "gtest/gtest.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint64_t kMin = 32 << 10;
constexpr uint64_t kSlice = 64 << 10;

// The other clock is so far ahead of this one; it wraps soon.
constexpr Duration kAhead = microseconds(0xffffffff - 500'000);

class RateMeterTest : public ::testing::Test {
 protected:
  void Send(uint64_t bytes) {
    meter_.Sent(sent_, bytes, now_);
    sent_ += bytes;
  }
  // So many have come at `at`, and it is known now.
  void Come(uint64_t count, TimePoint at) { meter_.Acknowledge(count, StampOf(at + kAhead), now_); }

  RateMeter meter_{kMin};
  TimePoint now_{seconds(1)};
  uint64_t sent_ = 0;
};

// A byte a nanosecond, over a wrap of the other clock, in slices that are reported `late`.
TEST_F(RateMeterTest, MeasuresByArrivalsHoweverLateTheyAreTold) {
  const TimePoint begin = now_;
  Send(400 * kSlice);
  const auto late = [](int i) { return i % 3 == 0 ? milliseconds(2) : microseconds(10); };
  for (int i = 1; i <= 400; ++i) {
    const TimePoint at = begin + std::chrono::nanoseconds(i * kSlice);
    now_ = std::max(now_, at + late(i));
    Come(i * kSlice, at);
  }
  EXPECT_NEAR(meter_.rate(), 1e9, 1e7);
}

TEST_F(RateMeterTest, PausesDoNotCount) {
  uint64_t come = 0;
  for (int i = 0; i < 50; ++i) {
    Send(4 * kSlice);
    for (int part = 1; part <= 4; ++part) {
      now_ += microseconds(64);
      come += kSlice;
      Come(come, now_);
    }
    // The next ones are given before it is known that the former have come.
    if (i % 2 == 0) {
      now_ += milliseconds(3);
    } else {
      Send(kSlice);
      now_ += milliseconds(3);
      come += kSlice;
      Come(come, now_);
    }
  }
  EXPECT_NEAR(meter_.rate(), kSlice / 64e-6, 1e7);
}

TEST_F(RateMeterTest, WhatIsSentOneByOneIsNotMeasured) {
  for (int i = 0; i < 1000; ++i) {
    Send(4096);
    now_ += milliseconds(1);
    Come(sent_, now_);
  }
  EXPECT_EQ(meter_.rate(), 0);
}

// Three are on their way, and none waits for another.
TEST_F(RateMeterTest, ALongWayIsNoSlowOne) {
  for (uint64_t i = 0; i < 1000; ++i) {
    Send(4096);
    if (i >= 3) Come(4096 * (i - 2), now_);
    now_ += milliseconds(1);
  }
  EXPECT_EQ(meter_.rate(), 0);
}

TEST_F(RateMeterTest, WhatWaitsForTheOneBeforeItIsMeasured) {
  Send(kSlice);
  now_ += milliseconds(1);
  Come(kSlice, now_);
  for (int i = 0; i < 10; ++i) {
    Send(2 * kSlice);
    now_ += milliseconds(1);
    Come(sent_ - kSlice, now_);
    now_ += milliseconds(2);
    Come(sent_, now_);
  }
  EXPECT_NEAR(meter_.rate(), kSlice / 2e-3, 1e6);
}

TEST_F(RateMeterTest, AheadIsLessByWhatHasPassedSinceTheLastOneCame) {
  Send(10 * kSlice);
  const TimePoint at = now_ + milliseconds(1);
  now_ = at + milliseconds(2);
  Come(2 * kSlice, at);
  // The way is taken for the millisecond that the first ones took.
  const double rate = 8 * kSlice / 10e-3;
  EXPECT_NEAR(meter_.Ahead(rate, now_), 7e-3, 1e-5);
  EXPECT_NEAR(meter_.Ahead(rate, now_ + seconds(1)), 10e-3 / 8, 1e-5) << "it may be still";
  Come(sent_, now_);
  EXPECT_EQ(meter_.Ahead(rate, now_), 0);
}

TEST_F(RateMeterTest, AheadIsAllOfItWhileNothingIsKnown) {
  Send(10 * kSlice);
  EXPECT_NEAR(meter_.Ahead(kSlice / 1e-3, now_ + seconds(1)), 10e-3, 1e-6);
}

// Else a clock that drifts would make the rail look as if it never paused, or always did.
TEST_F(RateMeterTest, AfterALongPauseTheClocksAreComparedAnew) {
  Send(kSlice);
  Come(kSlice, now_ - seconds(5));
  now_ += seconds(20);
  Send(10 * kSlice);
  now_ += milliseconds(1);
  Come(sent_ - 8 * kSlice, now_);
  EXPECT_NEAR(meter_.Ahead(8 * kSlice / 10e-3, now_), 9e-3, 2e-5);
}

// Few bytes are put to those before them, which must not be taken for as old as those.
TEST_F(RateMeterTest, AFewBytesAfterALongPauseAreMeasuredByTheirOwnTime) {
  Send(100);
  Come(sent_, now_);
  now_ += seconds(20);
  Send(100);
  Come(sent_, now_);
  Send(16 * kSlice);
  for (int i = 0; i < 16; ++i) {
    now_ += milliseconds(1);
    Come(sent_ - (15 - i) * kSlice, now_);
  }
  EXPECT_NEAR(meter_.rate(), kSlice / 1e-3, 1e6);
}

TEST_F(RateMeterTest, WhateverAPeerSaysTheNumbersStayNumbers) {
  TestRandom random(1);
  for (int i = 0; i < 20000; ++i) {
    Send(1 + random.Below(2 * kSlice));
    now_ += microseconds(random.Below(100));
    meter_.Acknowledge(random.Below(sent_ + 1), static_cast<ArrivalStamp>(random.Next()), now_);
    const double estimate = meter_.Estimate(1e9, now_);
    EXPECT_GT(estimate, 0);
    EXPECT_LE(estimate, 1e9);
    const double ahead = meter_.Ahead(estimate, now_);
    EXPECT_GE(ahead, 0);
    EXPECT_LE(ahead, static_cast<double>(sent_) / estimate);
  }
}

}  // namespace
}  // namespace farcall
