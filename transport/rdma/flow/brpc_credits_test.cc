// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/flow/brpc_credits.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"

namespace farcall {
namespace {

BrpcEnd With(uint16_t sends, uint16_t receives) {
  BrpcEnd end;
  end.send_slots = sends;
  end.receive_slots = receives;
  return end;
}

TEST(BrpcCreditsTest, WindowsAreWhatBothEndsHaveButThree) {
  const BrpcCredits credits(With(128, 64), With(32, 100));
  EXPECT_EQ(credits.window(), 97u);
  EXPECT_EQ(credits.peer_window(), 29u);
  EXPECT_EQ(credits.Budget(), 97u);
}

TEST(BrpcCreditsTest, AMessageTakesACreditAndASlot) {
  BrpcCredits credits(With(16, 16), With(16, 16));
  ASSERT_EQ(credits.Budget(), 13u);
  const BrpcSend first = credits.Send(10, /*last=*/true);
  EXPECT_TRUE(first.signaled && first.solicited);
  EXPECT_EQ(first.report, 0u);
  EXPECT_EQ(credits.Budget(), 12u);
  EXPECT_EQ(credits.OnCompleted(first.seq), 1u);
  EXPECT_EQ(credits.OnCompleted(first.seq), 0u);
  EXPECT_EQ(credits.Budget(), 12u) << "it is not known to be read";
  EXPECT_TRUE(credits.OnMessage(0, 1).ok());
  EXPECT_EQ(credits.Budget(), 13u);
}

TEST(BrpcCreditsTest, WhatIsReadIsReportedOnceItsReceivesArePostedAgain) {
  BrpcCredits credits(With(16, 16), With(16, 16));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(credits.OnMessage(100, 0).ok());
  EXPECT_EQ(credits.Send(1, true).report, 0u);
  credits.OnPosted(2);
  EXPECT_EQ(credits.Send(1, true).report, 2u);
  EXPECT_EQ(credits.Send(1, true).report, 0u);
  EXPECT_EQ(credits.unreported(), 1u);
}

TEST(BrpcCreditsTest, ABareReportIsDueForMoreThanHalfOfTheWindow) {
  BrpcCredits credits(With(16, 16), With(16, 16));
  for (int i = 0; i < 13; ++i) ASSERT_TRUE(credits.OnMessage(100, 0).ok());
  EXPECT_FALSE(credits.PeerStandsStill() && credits.BareIsDue());
  EXPECT_TRUE(credits.PeerStandsStill());
  credits.OnPosted(6);
  EXPECT_FALSE(credits.BareIsDue());
  credits.OnPosted(1);
  ASSERT_TRUE(credits.BareIsDue());
  const BrpcSend bare = credits.SendBare();
  EXPECT_EQ(bare.report, 7u);
  EXPECT_TRUE(bare.signaled && bare.solicited);
  EXPECT_EQ(credits.Budget(), 13u) << "it takes no credit";
  EXPECT_FALSE(credits.BareIsDue());
}

TEST(BrpcCreditsTest, AFourthBareReportWaitsForACompletion) {
  BrpcCredits credits(With(16, 16), With(16, 16));
  uint32_t first = 0;
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 7; ++k) ASSERT_TRUE(credits.OnMessage(1, 0).ok());
    credits.OnPosted(7);
    ASSERT_TRUE(credits.BareIsDue());
    const uint32_t seq = credits.SendBare().seq;
    if (i == 0) first = seq;
  }
  for (int k = 0; k < 7; ++k) ASSERT_TRUE(credits.OnMessage(1, 0).ok());
  credits.OnPosted(7);
  EXPECT_FALSE(credits.BareIsDue());
  EXPECT_EQ(credits.OnCompleted(first), 1u);
  EXPECT_TRUE(credits.BareIsDue());
  EXPECT_EQ(credits.free_slots(), 13u) << "it had no slot of those for bytes";
}

TEST(BrpcCreditsTest, ThePeerIsWokenInTime) {
  BrpcCredits credits(With(128, 128), With(128, 128));
  uint32_t unsolicited = 0;
  while (credits.Budget() > 1) {
    unsolicited = credits.Send(1, false).solicited ? 0 : unsolicited + 1;
    EXPECT_LT(unsolicited, 125u / 4);
  }
  EXPECT_TRUE(credits.Send(1, false).solicited) << "nothing may follow for long";
  BrpcCredits large(With(128, 128), With(128, 128));
  EXPECT_FALSE(large.Send((1 << 20) - 1, false).solicited);
  EXPECT_TRUE(large.Send(1, false).solicited) << "a mebibyte";
}

void ExpectBreach(const absl::Status& status, const char* what) {
  EXPECT_TRUE(absl::IsInvalidArgument(status) && absl::StrContains(status.message(), what))
      << status;
}

TEST(BrpcCreditsTest, WhatThePeerMayNotDoIsAnError) {
  BrpcCredits credits(With(16, 16), With(16, 16));
  ExpectBreach(credits.OnMessage(0, 0), "says nothing");
  ExpectBreach(credits.OnMessage(0, 1), "reported 1 messages, and 0 were sent");
  ExpectBreach(credits.OnMessage(5, 0xffffffff), "reported 4294967295 messages");
  credits.Send(1, true);
  EXPECT_TRUE(credits.OnMessage(7, 1).ok());
  for (int i = 1; i < 13; ++i) ASSERT_TRUE(credits.OnMessage(1, 0).ok());
  ExpectBreach(credits.OnMessage(1, 0), "without a credit");
  credits.OnPosted(13);
  ExpectBreach(credits.OnMessage(1, 0), "without a credit");
  credits.Send(1, true);
  EXPECT_TRUE(credits.OnMessage(1, 0).ok());
}

}  // namespace
}  // namespace farcall
