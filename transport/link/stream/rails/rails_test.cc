// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/rails/rails.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "gtest/gtest.h"

namespace farcall {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr uint64_t kKiB = 1024;

class RailsTest : public ::testing::Test {
 protected:
  static TimePoint At(int64_t us) { return TimePoint(microseconds(us)); }

  // So many have come, and that is reported at once.
  static bool Come(Rail& rail, uint64_t count, TimePoint now) {
    return rail.Acknowledge(count, StampOf(now), now);
  }
  void AddTwoThatStandStill() {
    for (const uint32_t number : {1, 2}) {
      rails_.Add(number);
      Rail& rail = *rails_.Find(number);
      rail.Sent(0, 100, now_);
      rail.progress.Ask(100);
      rail.progress.Answer(0, now_);
    }
  }
  // Gives it so much, and it is done with that in `took`, in even parts.
  void Measure(uint32_t number, uint64_t bytes, Duration took) {
    Rail& rail = *rails_.Find(number);
    const uint64_t before = rail.flight().acknowledged();
    rail.Sent(offset_, bytes, now_);
    offset_ += bytes;
    for (int part = 1; part <= 8; ++part) {
      ASSERT_TRUE(Come(rail, before + bytes * part / 8, now_ + took * part / 8));
    }
  }

  StreamLimits limits_{.rails = 4};
  TimePoint now_ = At(1000000);
  uint64_t offset_ = 0;
  Rails rails_{limits_};
};

TEST_F(RailsTest, LittleGoesToTheOldest) {
  EXPECT_EQ(rails_.home(), 0u);
  rails_.Add(3);
  rails_.Add(5);
  EXPECT_EQ(rails_.home(), 3u);
  for (int i = 0; i < 10; ++i) {
    const Rails::Choice choice = rails_.Pick(100 * kKiB, now_);
    EXPECT_EQ(choice.rail->number(), 3u);
    choice.rail->Sent(offset_, 100 * kKiB, now_);
    offset_ += 100 * kKiB;
    ASSERT_TRUE(Come(*choice.rail, offset_, now_));
  }
  rails_.Remove(3);
  EXPECT_EQ(rails_.home(), 5u);
}

// Else the last part of each message would be the home's, however slow that is.
TEST_F(RailsTest, LittleBehindMuchGoesWhereItIsDoneFirst) {
  rails_.Add(1);
  rails_.Add(2);
  rails_.Find(1)->Sent(0, 300 * kKiB, now_);
  EXPECT_EQ(rails_.Pick(10 * kKiB, now_).rail->number(), 2u);
  ASSERT_TRUE(Come(*rails_.Find(1), 300 * kKiB, now_));
  EXPECT_EQ(rails_.Pick(10 * kKiB, now_).rail->number(), 1u);
}

TEST_F(RailsTest, OneRailTakesWholeFrames) {
  rails_.Add(1);
  EXPECT_EQ(rails_.Pick(uint64_t{8} << 20, now_).most, limits_.max_data);
}

TEST_F(RailsTest, RailsOfWhichNothingIsKnownGetLittleAndThenAsMuchAsTheyHaveBrought) {
  for (uint32_t number = 1; number <= 4; ++number) rails_.Add(number);
  // What each gets until none gets more.
  const auto give = [&] {
    std::map<uint32_t, uint64_t> bytes;
    for (;;) {
      const Rails::Choice choice = rails_.Pick(uint64_t{64} << 20, now_);
      if (choice.rail == nullptr) return bytes;
      EXPECT_EQ(choice.most, limits_.least_slice);
      choice.rail->Sent(offset_, choice.most, now_);
      offset_ += choice.most;
      bytes[choice.rail->number()] += choice.most;
    }
  };
  const uint64_t first = 256 * kKiB;
  for (const uint64_t each : {first, first, 2 * first, 4 * first}) {
    EXPECT_EQ(give(), (std::map<uint32_t, uint64_t>{{1, each}, {2, each}, {3, each}, {4, each}}));
    // All at once, so that it is not known how long it took.
    for (const auto& rail : rails_.all()) ASSERT_TRUE(Come(*rail, rail->flight().sent(), now_));
  }
}

// It may be the fastest.
TEST_F(RailsTest, OneThatIsKnownIsNotGivenWhatAnotherMightBringSooner) {
  rails_.Add(1);
  rails_.Add(2);
  Measure(1, 4096 * kKiB, milliseconds(4));
  now_ += milliseconds(4);
  std::map<uint32_t, uint64_t> bytes;
  for (;;) {
    const Rails::Choice choice = rails_.Pick(uint64_t{64} << 20, now_);
    if (choice.rail == nullptr) break;
    choice.rail->Sent(offset_, choice.most, now_);
    offset_ += choice.most;
    bytes[choice.rail->number()] += choice.most;
  }
  EXPECT_EQ(bytes[2], 256 * kKiB);
  EXPECT_LE(bytes[1], 512 * kKiB);
}

TEST_F(RailsTest, AFasterRailTakesMore) {
  rails_.Add(1);
  rails_.Add(2);
  Measure(1, 4096 * kKiB, milliseconds(4));
  Measure(2, 4096 * kKiB, milliseconds(16));
  now_ += milliseconds(16);
  std::map<uint32_t, uint64_t> bytes;
  for (int i = 0; i < 100; ++i) {
    const Rails::Choice choice = rails_.Pick(uint64_t{64} << 20, now_);
    choice.rail->Sent(offset_, choice.most, now_);
    bytes[choice.rail->number()] += choice.most;
  }
  EXPECT_NEAR(double(bytes[1]) / double(bytes[2]), 4.0, 0.5);
}

TEST_F(RailsTest, ASlowRailIsTriedAgainAfterAWhile) {
  rails_.Add(1);
  rails_.Add(2);
  Measure(1, 4096 * kKiB, milliseconds(4));
  Measure(2, 4096 * kKiB, milliseconds(400));
  const double best = rails_.Find(1)->rate().rate();
  const RateMeter& slow = rails_.Find(2)->rate();
  const TimePoint measured = now_ + milliseconds(400);
  EXPECT_LT(slow.Estimate(best, measured), best / 50);
  EXPECT_NEAR(slow.Estimate(best, measured + milliseconds(500)), 2 * slow.rate(), slow.rate() / 10);
  EXPECT_EQ(slow.Estimate(best, measured + std::chrono::seconds(10)), best);
}

TEST_F(RailsTest, CallsOneByOneDoNotCountAsSlow) {
  rails_.Add(1);
  Rail& rail = *rails_.Find(1);
  for (int i = 0; i < 100; ++i) {
    rail.Sent(offset_, 4096, now_);
    offset_ += 4096;
    now_ += milliseconds(5);
    ASSERT_TRUE(Come(rail, offset_, now_));
  }
  EXPECT_EQ(rail.rate().rate(), 0);
}

TEST_F(RailsTest, WhatIsStillIsSuspectWhileAnotherMovesAndThenStuck) {
  rails_.Add(1);
  rails_.Add(2);
  Rail& still = *rails_.Find(1);
  still.Sent(0, 100, now_);
  still.progress.Ask(100);
  still.progress.Answer(0, now_);
  EXPECT_EQ(rails_.FindSuspect(now_), nullptr);
  now_ += limits_.progress_timeout / 4;
  ASSERT_EQ(rails_.FindSuspect(now_), &still);
  EXPECT_EQ(still.Suspect(), (std::vector<ByteRange>{{0, 100}}));
  EXPECT_EQ(rails_.FindSuspect(now_), nullptr);
  EXPECT_EQ(rails_.home(), 2u);
  EXPECT_EQ(rails_.FindStuck(now_), nullptr);
  now_ += limits_.progress_timeout;
  EXPECT_EQ(rails_.FindStuck(now_), &still);
}

TEST_F(RailsTest, TheLastOneIsStuckLaterWhereTcpDoesNotCarryOn) {
  limits_.tcp_carries_on = false;
  AddTwoThatStandStill();
  now_ += limits_.progress_timeout;
  EXPECT_EQ(rails_.FindStuck(now_), rails_.Find(1));
  rails_.Remove(1);
  EXPECT_EQ(rails_.FindStuck(now_), nullptr);
  now_ += limits_.peer_timeout - limits_.progress_timeout;
  EXPECT_EQ(rails_.FindStuck(now_), rails_.Find(2));
}

TEST_F(RailsTest, TellsSinceWhenOneIsStillForWhichAnotherCouldStandIn) {
  rails_.Add(1);
  Rail& first = *rails_.Find(1);
  const TimePoint begin = now_;
  first.Sent(0, 100, now_);
  EXPECT_EQ(rails_.StillSince(), std::nullopt) << "there is no other";
  rails_.Add(2);
  Rail& second = *rails_.Find(2);
  now_ += milliseconds(5);
  first.Sent(100, 100, now_);
  second.Sent(200, 100, now_);
  EXPECT_EQ(rails_.StillSince(), begin);
  const TimePoint moved = now_ += milliseconds(5);
  ASSERT_TRUE(Come(first, 50, now_));
  EXPECT_EQ(rails_.StillSince(), moved - milliseconds(5)) << "the second one, now";
  ASSERT_TRUE(Come(second, 100, now_));
  EXPECT_EQ(rails_.StillSince(), moved);
  second.Sent(300, 100, now_ + milliseconds(1));
  first.Suspect();
  EXPECT_EQ(rails_.StillSince(), std::nullopt) << "nothing could stand in for the second one";
  ASSERT_TRUE(Come(first, 200, now_));
  EXPECT_EQ(rails_.StillSince(), now_ + milliseconds(1)) << "nothing is on the first one";
  ASSERT_TRUE(Come(second, 200, now_));
  EXPECT_EQ(rails_.StillSince(), std::nullopt);
}

TEST_F(RailsTest, ASuspectOneIsUsedAgainWhenAllThatWasOnItHasCome) {
  rails_.Add(1);
  rails_.Add(2);
  Rail& still = *rails_.Find(1);
  still.Sent(0, 100, now_);
  still.Suspect();
  EXPECT_EQ(rails_.home(), 2u);
  ASSERT_TRUE(Come(still, 99, now_));
  EXPECT_EQ(rails_.home(), 2u);
  ASSERT_TRUE(Come(still, 100, now_));
  EXPECT_EQ(rails_.home(), 1u);
}

// It is, where there is no other: what it got then does not count.
TEST_F(RailsTest, WhatASuspectOneGotLaterNeedNotHaveCome) {
  rails_.Add(1);
  Rail& still = *rails_.Find(1);
  still.Sent(0, 100, now_);
  still.Suspect();
  still.Sent(100, 100, now_);
  rails_.Add(2);
  EXPECT_EQ(rails_.home(), 2u);
  ASSERT_TRUE(Come(still, 100, now_));
  EXPECT_EQ(rails_.home(), 1u);
}

TEST_F(RailsTest, TheOnlyOneIsNeverSuspect) {
  AddTwoThatStandStill();
  now_ += limits_.progress_timeout / 2;
  Rail* const suspect = rails_.FindSuspect(now_);
  ASSERT_NE(suspect, nullptr);
  suspect->Suspect();
  EXPECT_EQ(rails_.FindSuspect(now_), nullptr);
}

}  // namespace
}  // namespace farcall
