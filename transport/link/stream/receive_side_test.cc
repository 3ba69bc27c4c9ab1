// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/receive_side.h"

#include <chrono>

#include "gtest/gtest.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

class ReceiveSideTest : public ::testing::Test {
 protected:
  TimePoint At(int ms) const { return TimePoint(milliseconds(ms)); }
  ReceiveSide side_{/*window=*/40, milliseconds(5)};
};

TEST_F(ReceiveSideTest, TakesWhatIsNew) {
  EXPECT_EQ(side_.Take(0, Buffer("abc"), At(0)).ToString(), "abc");
  EXPECT_EQ(side_.Take(1, Buffer("bcd"), At(0)).ToString(), "d");
  EXPECT_TRUE(side_.Take(0, Buffer("abcd"), At(0)).empty());
  EXPECT_EQ(side_.received(), 4u);
}

TEST_F(ReceiveSideTest, AnAcknowledgementIsDueAfterTheDelayOrAQuarter) {
  EXPECT_EQ(side_.ack_time(), std::nullopt);
  side_.Take(0, Buffer("abc"), At(0));
  side_.Take(3, Buffer("d"), At(3));
  EXPECT_EQ(side_.ack_time(), At(5));
  EXPECT_FALSE(side_.AckDue(At(4)));
  EXPECT_TRUE(side_.AckDue(At(5)));
  side_.PostponeAck(At(5));
  EXPECT_FALSE(side_.AckDue(At(9)));
  side_.Take(4, Buffer("efghij"), At(6));
  EXPECT_TRUE(side_.AckDue(At(6)));
  side_.OnAckSent();
  EXPECT_FALSE(side_.AckDue(At(100)));
  EXPECT_EQ(side_.ack_time(), std::nullopt);
}

TEST_F(ReceiveSideTest, TheLimitFollowsWhatThePeerWasTold) {
  EXPECT_EQ(side_.limit(), 40u);
  side_.Take(0, Buffer("abc"), At(0));
  EXPECT_EQ(side_.limit(), 40u);
  side_.OnAckSent();
  EXPECT_EQ(side_.limit(), 43u);
}

TEST_F(ReceiveSideTest, FrozenItAcknowledgesNothingNew) {
  side_.Take(0, Buffer("abc"), At(0));
  side_.Freeze(true, At(1));
  side_.Take(3, Buffer("def"), At(2));
  EXPECT_EQ(side_.acknowledged(), 3u);
  EXPECT_EQ(side_.received(), 6u);
  side_.OnAckSent();
  side_.Freeze(true, At(3));  // again
  EXPECT_EQ(side_.acknowledged(), 3u);
  EXPECT_FALSE(side_.AckDue(At(100)));
  side_.Freeze(false, At(50));
  EXPECT_EQ(side_.acknowledged(), 6u);
  EXPECT_EQ(side_.ack_time(), At(55));
}

TEST_F(ReceiveSideTest, IsCompleteAtItsEnd) {
  side_.Take(0, Buffer("abc"), At(0));
  EXPECT_FALSE(side_.SetFinal(2));
  EXPECT_FALSE(side_.complete());
  EXPECT_TRUE(side_.SetFinal(4));
  EXPECT_FALSE(side_.complete());
  side_.Take(3, Buffer("d"), At(0));
  EXPECT_TRUE(side_.complete());
}

}  // namespace
}  // namespace farcall
