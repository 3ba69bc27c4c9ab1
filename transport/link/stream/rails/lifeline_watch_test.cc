// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/rails/lifeline_watch.h"

#include <chrono>

#include "gtest/gtest.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

class LifelineWatchTest : public ::testing::Test {
 protected:
  static TimePoint At(int ms) { return TimePoint(milliseconds(ms)); }

  // PINGs every 100 ms, idle after 1 s, dead after 10 s, stuck after 300 ms.
  StreamLimits limits_{};
  const LifelineWatch::Work nothing_{};
  const LifelineWatch::Work waits_{.unacknowledged_since = std::nullopt, .expects_answer = true};
  const LifelineWatch::Work sends_{.unacknowledged_since = At(50), .expects_answer = false};
  LifelineWatch watch_{limits_, At(0)};
};

TEST_F(LifelineWatchTest, AsksWhenThereIsAReason) {
  EXPECT_EQ(watch_.NextTime(nothing_), std::nullopt);
  EXPECT_EQ(watch_.NextTime(waits_), At(1000));
  EXPECT_EQ(watch_.NextTime(sends_), At(150));
  EXPECT_FALSE(watch_.PingDue(sends_, At(149)));
  EXPECT_TRUE(watch_.PingDue(sends_, At(150)));
  watch_.Heard(At(700));
  EXPECT_EQ(watch_.NextTime(waits_), At(1700));
}

TEST_F(LifelineWatchTest, AsksSoonWhileARailIsStill) {
  LifelineWatch::Work work = sends_;
  work.still_since = At(60);
  const TimePoint soon = At(60) + StillPing(limits_);
  EXPECT_EQ(watch_.NextTime(work), soon);
  EXPECT_TRUE(watch_.Answer(watch_.Ask(0, 0, soon), 0, soon));
  EXPECT_EQ(watch_.NextTime(work), soon + StillPing(limits_));
  LifelineWatch::Work alone = nothing_;
  alone.still_since = At(60);
  EXPECT_EQ(watch_.NextTime(alone), soon + StillPing(limits_));
  // What is usual does not wait for that.
  work.still_since = At(170);
  EXPECT_EQ(watch_.NextTime(work), soon + limits_.ping_interval);
}

TEST_F(LifelineWatchTest, AsksOneAtATime) {
  const uint64_t first = watch_.Ask(0, 0, At(150));
  EXPECT_FALSE(watch_.PingDue(sends_, At(1000)));
  EXPECT_FALSE(watch_.Answer(first + 1, 0, At(1000)));
  EXPECT_TRUE(watch_.Answer(first, 0, At(1000)));
  EXPECT_FALSE(watch_.Answer(first, 0, At(1000)));
  EXPECT_TRUE(watch_.PingDue(sends_, At(1000)));
}

TEST_F(LifelineWatchTest, APeerThatSaysSomethingIsNotDead) {
  EXPECT_FALSE(watch_.PeerDead(At(100000)));  // no PING was sent
  watch_.Ask(0, 0, At(0));
  watch_.Heard(At(5000));
  EXPECT_EQ(watch_.NextTime(nothing_), At(15000));
  EXPECT_FALSE(watch_.PeerDead(At(14999)));
  EXPECT_TRUE(watch_.PeerDead(At(15000)));
}

TEST_F(LifelineWatchTest, AGenerationIsStuckWhenPongsShowForAWhileThatNothingComes) {
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(watch_.Answer(watch_.Ask(100, 1, At(100 * i)), 40, At(100 * i + 1)));
    EXPECT_EQ(watch_.Stuck(1, At(100 * i + 1)), i == 3);
  }
  EXPECT_FALSE(watch_.Stuck(2, At(400)));
  EXPECT_FALSE(watch_.Stuck(0, At(400)));
}

TEST_F(LifelineWatchTest, ItIsStuckAsLateAsADeadPeerWhereTcpDoesNotCarryOn) {
  limits_.tcp_carries_on = false;
  for (int i = 0; i <= 100; ++i) {
    EXPECT_TRUE(watch_.Answer(watch_.Ask(100, 1, At(100 * i)), 40, At(100 * i + 1)));
    EXPECT_EQ(watch_.Stuck(1, At(100 * i + 1)), i == 100);
  }
}

TEST_F(LifelineWatchTest, AByteIsProgress) {
  for (int i = 0; i < 100; ++i) {
    const auto received = static_cast<uint64_t>(i / 2);
    EXPECT_TRUE(watch_.Answer(watch_.Ask(100, 1, At(100 * i)), received, At(100 * i + 1)));
    EXPECT_FALSE(watch_.Stuck(1, At(100 * i + 1)));
  }
}

TEST_F(LifelineWatchTest, WhatWasSentBehindThePingProvesNothing) {
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(watch_.Answer(watch_.Ask(40, 1, At(100 * i)), 40, At(100 * i + 1)));
  }
  EXPECT_FALSE(watch_.Stuck(1, At(1000)));
}

TEST_F(LifelineWatchTest, AnotherGenerationBeginsAnew) {
  EXPECT_TRUE(watch_.Answer(watch_.Ask(100, 1, At(0)), 40, At(1)));
  EXPECT_TRUE(watch_.Answer(watch_.Ask(100, 2, At(400)), 40, At(401)));
  EXPECT_FALSE(watch_.Stuck(2, At(401)));
}

}  // namespace
}  // namespace farcall
