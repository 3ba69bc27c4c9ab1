// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/bytes/receive_side.h"

#include <chrono>
#include <string>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

class ReceiveSideTest : public ::testing::Test {
 protected:
  TimePoint At(int ms) const { return TimePoint(milliseconds(ms)); }
  // What is new of them.
  std::string Take(uint64_t offset, absl::string_view text, TimePoint now) {
    Buffer bytes(text);
    side_.Take(offset, bytes, now);
    return bytes.ToString();
  }
  ReceiveSide side_{/*window=*/40, milliseconds(5)};
};

TEST_F(ReceiveSideTest, TakesWhatIsNew) {
  EXPECT_EQ(Take(0, "abc", At(0)), "abc");
  EXPECT_EQ(Take(1, "bcd", At(0)), "d");
  EXPECT_EQ(Take(0, "abcd", At(0)), "");
  EXPECT_EQ(side_.received(), 4u);
}

TEST_F(ReceiveSideTest, AnAcknowledgementIsDueAfterTheDelayOrAQuarter) {
  EXPECT_EQ(side_.ack_time(), std::nullopt);
  Take(0, "abc", At(0));
  Take(3, "d", At(3));
  EXPECT_EQ(side_.ack_time(), At(5));
  EXPECT_FALSE(side_.AckDue(At(4)));
  EXPECT_TRUE(side_.AckDue(At(5)));
  side_.PostponeAck(At(5));
  EXPECT_FALSE(side_.AckDue(At(9)));
  Take(4, "efghij", At(6));
  EXPECT_TRUE(side_.AckDue(At(6)));
  side_.OnAckSent();
  EXPECT_FALSE(side_.AckDue(At(100)));
  EXPECT_EQ(side_.ack_time(), std::nullopt);
}

TEST_F(ReceiveSideTest, TheLimitFollowsWhatThePeerWasTold) {
  EXPECT_EQ(side_.limit(), 40u);
  Take(0, "abc", At(0));
  EXPECT_EQ(side_.limit(), 40u);
  side_.OnAckSent();
  EXPECT_EQ(side_.limit(), 43u);
}

TEST_F(ReceiveSideTest, FrozenItAcknowledgesNothingNew) {
  Take(0, "abc", At(0));
  side_.Freeze(true, At(1));
  Take(3, "def", At(2));
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
  Take(0, "abc", At(0));
  EXPECT_FALSE(side_.SetFinal(2));
  EXPECT_FALSE(side_.complete());
  EXPECT_TRUE(side_.SetFinal(4));
  EXPECT_FALSE(side_.complete());
  Take(3, "d", At(0));
  EXPECT_TRUE(side_.complete());
}

}  // namespace
}  // namespace farcall
