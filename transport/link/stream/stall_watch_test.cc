// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/stall_watch.h"

#include <chrono>

#include "gtest/gtest.h"

namespace farcall {
namespace {

using std::chrono::seconds;
using Change = StallWatch::Change;

class StallWatchTest : public ::testing::Test {
 protected:
  static TimePoint At(int second) { return TimePoint() + seconds(1000 + second); }
  StallWatch watch_{seconds(5)};
};

TEST_F(StallWatchTest, BytesThatWaitAndDoNotMoveAreSeenOnce) {
  for (int i = 0; i < 5; ++i) EXPECT_EQ(watch_.Look(100, 7, At(i)), Change::kNone) << i;
  EXPECT_FALSE(watch_.stalled());
  EXPECT_EQ(watch_.Look(100, 7, At(5)), Change::kStalled);
  EXPECT_TRUE(watch_.stalled());
  EXPECT_EQ(watch_.Look(200, 7, At(6)), Change::kNone);
  EXPECT_EQ(watch_.Look(200, 7, At(600)), Change::kNone);
}

TEST_F(StallWatchTest, OneByteIsEnoughToMove) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(watch_.Look(100, 7 + static_cast<uint64_t>(i) / 4, At(i)), Change::kNone) << i;
  }
}

TEST_F(StallWatchTest, NothingToSendIsNoStall) {
  for (int i = 0; i < 100; ++i) EXPECT_EQ(watch_.Look(0, 7, At(i)), Change::kNone);
  // Time counts from when something is seen to wait.
  for (int i = 104; i < 109; ++i) EXPECT_EQ(watch_.Look(1, 7, At(i)), Change::kNone);
  EXPECT_EQ(watch_.Look(1, 7, At(109)), Change::kStalled);
}

TEST_F(StallWatchTest, AStallThatEndsIsToldAndMayComeAgain) {
  for (int i = 0; i < 5; ++i) watch_.Look(100, 7, At(i));
  EXPECT_EQ(watch_.Look(100, 7, At(5)), Change::kStalled);
  EXPECT_EQ(watch_.Look(99, 8, At(9)), Change::kMoves);
  for (int i = 10; i < 14; ++i) EXPECT_EQ(watch_.Look(99, 8, At(i)), Change::kNone);
  EXPECT_EQ(watch_.Look(99, 8, At(14)), Change::kStalled);
  EXPECT_EQ(watch_.End(), Change::kMoves);
  EXPECT_EQ(watch_.End(), Change::kNone);
}

// A process that was stopped for a minute answers PINGs before it has taken anything.
TEST_F(StallWatchTest, TheFirstWordAfterSilenceProvesNothing) {
  watch_.Look(100, 7, At(0));
  EXPECT_EQ(watch_.Look(100, 7, At(60)), Change::kNone);
  EXPECT_EQ(watch_.Look(90, 17, At(61)), Change::kNone);
  EXPECT_EQ(watch_.Look(90, 17, At(120)), Change::kNone);
  EXPECT_FALSE(watch_.stalled());
}

// However seldom it is heard.
TEST_F(StallWatchTest, APeerThatSpeaksAndTakesNothingIsSeenInTheEnd) {
  watch_.Look(100, 7, At(0));
  EXPECT_EQ(watch_.Look(100, 7, At(60)), Change::kNone);
  EXPECT_EQ(watch_.Look(100, 7, At(120)), Change::kStalled);
}

}  // namespace
}  // namespace farcall
