// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/rails.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <numeric>
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

  // So many have come, and it is told at once.
  static bool Come(Rail& rail, uint64_t count, TimePoint now) {
    return rail.Acknowledge(count, StampOf(now), now);
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

  const StreamLimits limits_{.rails = 4};
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

TEST_F(RailsTest, MuchIsSpreadEvenlyOverRailsOfWhichNothingIsKnown) {
  for (uint32_t number = 1; number <= 4; ++number) rails_.Add(number);
  std::map<uint32_t, uint64_t> bytes;
  for (uint64_t left = 4096 * kKiB; left > 0;) {
    const Rails::Choice choice = rails_.Pick(left, now_);
    EXPECT_LE(choice.most, kMostSlices * limits_.least_slice);
    const uint64_t size = std::min<uint64_t>(choice.most, left);
    choice.rail->Sent(offset_, size, now_);
    bytes[choice.rail->number()] += size;
    left -= size;
  }
  ASSERT_EQ(bytes.size(), 4u);
  for (const auto& [number, sum] : bytes) EXPECT_NEAR(double(sum), 1024.0 * kKiB, 300.0 * kKiB);
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
  rails_.Add(1);
  rails_.Add(2);
  for (const uint32_t number : {1, 2}) {
    Rail& rail = *rails_.Find(number);
    rail.Sent(0, 100, now_);
    rail.progress.Ask(100);
    rail.progress.Answer(0, now_);
  }
  now_ += limits_.progress_timeout / 2;
  Rail* const suspect = rails_.FindSuspect(now_);
  ASSERT_NE(suspect, nullptr);
  suspect->Suspect();
  EXPECT_EQ(rails_.FindSuspect(now_), nullptr);
}

// Bulk over rails of given bytes a microsecond: pieces come in order by each, the peer tells of
// every 32 KiB and of what is there in a row, and the window holds what is not.
class Bulk {
 public:
  explicit Bulk(std::vector<double> rates) : rates_(std::move(rates)) {
    for (uint32_t i = 0; i < rates_.size(); ++i) {
      rails_.Add(i + 1);
      lines_.emplace_back();
    }
  }
  void SetRate(size_t line, double rate) { rates_[line] = rate; }

  // Bytes that are there in a row after so many microseconds more.
  uint64_t Run(int64_t us) {
    const uint64_t before = in_row_;
    for (const int64_t end = now_ + us; now_ < end; now_ += kStep) {
      Send();
      for (size_t i = 0; i < lines_.size(); ++i) Move(i);
    }
    return in_row_ - before;
  }

 private:
  static constexpr int64_t kStep = 5;
  struct Line {
    std::deque<ByteRange> queue;
    double done = 0;     // bytes of all that was queued
    uint64_t begun = 0;  // before the first in the queue
  };

  void Send() {
    const TimePoint now{microseconds(now_)};
    while (in_row_ + kWindow >= sent_ + (64 << 10)) {
      const Rails::Choice choice = rails_.Pick(uint64_t{1} << 30, now);
      const uint64_t size = std::min<uint64_t>(choice.most, in_row_ + kWindow - sent_);
      choice.rail->Sent(sent_, size, now);
      lines_[choice.rail->number() - 1].queue.push_back({sent_, sent_ + size});
      sent_ += size;
    }
  }
  void Move(size_t i) {
    Line& line = lines_[i];
    Rail& rail = *rails_.Find(static_cast<uint32_t>(i + 1));
    const uint64_t before = static_cast<uint64_t>(line.done) / kEach;
    line.done = std::min(line.done + rates_[i] * kStep, double(rail.flight().sent()));
    while (!line.queue.empty() && line.begun + line.queue.front().size() <= uint64_t(line.done)) {
      come_[line.queue.front().from] = line.queue.front().to;
      line.begun += line.queue.front().size();
      line.queue.pop_front();
    }
    for (auto next = come_.begin(); next != come_.end() && next->first == in_row_;) {
      in_row_ = next->second;
      next = come_.erase(next);
    }
    if (uint64_t(line.done) / kEach == before) return;
    const TimePoint now{microseconds(now_)};
    EXPECT_TRUE(rail.Acknowledge(uint64_t(line.done), StampOf(now), now));
  }

  static constexpr uint64_t kWindow = uint64_t{8} << 20;
  static constexpr uint64_t kEach = 32 << 10;
  const StreamLimits limits_{.rails = 8};
  std::vector<double> rates_;
  Rails rails_{limits_};
  std::vector<Line> lines_;
  std::map<uint64_t, uint64_t> come_;
  uint64_t sent_ = 0;
  uint64_t in_row_ = 0;
  int64_t now_ = 1000000;
};

TEST(RailsBulkTest, FillsRailsOfAnyRates) {
  const std::vector<std::vector<double>> cases = {
      {1000, 1000}, {1000, 4000}, {500, 1000, 2000, 4000}, {5000, 5000, 5000, 5000}, {30, 120}};
  for (const auto& rates : cases) {
    Bulk bulk(rates);
    bulk.Run(100000);
    const double sum = std::accumulate(rates.begin(), rates.end(), 0.0) * 200000;
    EXPECT_GE(double(bulk.Run(200000)), 0.95 * sum) << ::testing::PrintToString(rates);
  }
}

TEST(RailsBulkTest, FollowsARailThatGetsSlowAndFastAgain) {
  Bulk bulk({1000, 1000});
  bulk.Run(100000);
  bulk.SetRate(1, 50);
  bulk.Run(300000);
  EXPECT_GE(double(bulk.Run(100000)), 0.9 * 1050 * 100000);
  bulk.SetRate(1, 1000);
  bulk.Run(1000000);
  EXPECT_GE(double(bulk.Run(100000)), 0.95 * 2000 * 100000);
}

}  // namespace
}  // namespace farcall
