// SPDX-License-Identifier: Apache-2.0
//
// Several generations in use at once.

#include <chrono>
#include <string>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "transport/link/stream/switching_stream.h"
#include "transport/link/stream/testing/recorded_stream.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

// Slices of 2 bytes, so that 4 are bulk; windows of 64.
StreamLimits Two() {
  StreamLimits limits = RecordedStream::Small();
  limits.send_window = limits.receive_window = 64;
  limits.rails = 2;
  limits.least_slice = 2;
  return limits;
}

class SwitchingStreamRailsTest : public ::testing::Test {
 protected:
  void Use(uint32_t generation) {
    ASSERT_TRUE(stream_->MayStart());
    ASSERT_EQ(stream_->Start(), generation);
    stream_->OnGenerationReady(generation);
    stream_.Take();
  }
  void UseBoth() {
    Use(1);
    Use(2);
  }
  void Break(uint32_t generation) {
    stream_->OnGenerationBroken(generation, absl::UnavailableError("cut"));
    stream_->Flush(stream_.now());
  }
  void Resume(uint32_t generation, uint64_t offset) {
    stream_.Read(kLifeline,
                 {.type = LinkFrameType::kResume, .offset = offset, .number = generation});
  }
  void RailAck(LinkId link, uint32_t generation, uint64_t count, uint64_t acknowledged = 0) {
    stream_.Read(link, {.type = LinkFrameType::kRailAck,
                        .offset = count,
                        .acknowledged = acknowledged,
                        .number = generation});
  }

  RecordedStream stream_{Two()};
};

TEST_F(SwitchingStreamRailsTest, BeginsAsManyAsWereAgreedOn) {
  UseBoth();
  EXPECT_FALSE(stream_->MayStart());
}

TEST_F(SwitchingStreamRailsTest, LittleStaysOnOneAndMuchGoesOverAll) {
  UseBoth();
  stream_.Write("ab");
  RailAck(1, 1, 2);
  stream_.Write("cde");
  EXPECT_EQ(stream_.Take(), "G1 DATA @0+2 ack 0; G1 DATA @2+3 ack 0");
  RailAck(1, 1, 5);
  stream_.Write("fghijklmno");
  EXPECT_EQ(stream_.Take(),
            "G1 DATA @5+2 ack 0; G2 DATA @7+2 ack 0; G1 DATA @9+2 ack 0; G2 DATA @11+2 ack 0; "
            "G1 DATA @13+2 ack 0");
}

TEST_F(SwitchingStreamRailsTest, OneThatBreaksEndsAloneAndItsBytesGoOutAgain) {
  UseBoth();
  stream_.Write("abcdefgh");
  ASSERT_EQ(stream_.Take(),
            "G1 DATA @0+2 ack 0; G2 DATA @2+2 ack 0; G1 DATA @4+2 ack 0; G2 DATA @6+2 ack 0");
  Break(1);
  EXPECT_EQ(stream_.Take(),
            "G1 given up; TCP RESUME 1 @0 ack 0; G2 DATA @0+2 ack 0; G2 DATA @4+2 ack 0");
  EXPECT_TRUE(stream_->Alive(2));
  EXPECT_EQ(stream_->sending_on(), 2u);
  EXPECT_EQ(stream_->stats().fallbacks, 0u);
}

TEST_F(SwitchingStreamRailsTest, AnotherBeginsWhenBothEndsHaveGivenOneUp) {
  UseBoth();
  Break(1);
  EXPECT_FALSE(stream_->MayStart());
  Resume(1, 0);
  ASSERT_TRUE(stream_->MayStart());
  Use(3);
  EXPECT_EQ(stream_->sending_on(), 2u);
}

TEST_F(SwitchingStreamRailsTest, WhatAPeerSaysToHaveIsNotSentAgain) {
  UseBoth();
  stream_.Write("abcdefgh");
  stream_.Take();
  RailAck(1, 1, 3);
  Resume(1, 2);
  EXPECT_EQ(stream_.Take(), "G1 given up; TCP RESUME 1 @0 ack 0; G2 DATA @5+1 ack 0");
}

TEST_F(SwitchingStreamRailsTest, TheLastOneLeavesTheLifeline) {
  UseBoth();
  stream_.Write("abcdefgh");
  Break(2);
  stream_.Take();
  Break(1);
  EXPECT_EQ(stream_.Take(),
            "G1 given up; TCP RESUME 1 @0 ack 0; TCP DATA @0+4 ack 0; "
            "TCP DATA @4+4 ack 0");
  EXPECT_EQ(stream_->sending_on(), kLifeline);
  EXPECT_EQ(stream_->stats().fallbacks, 1u);
}

TEST_F(SwitchingStreamRailsTest, TellsWhatCameByEach) {
  UseBoth();
  stream_.Data(2, 4, "EF");
  EXPECT_EQ(stream_.Take(), "G2 RAIL_ACK 2 @2 ack 0");
  stream_.Data(1, 0, "ABCD");
  EXPECT_EQ(stream_.Take(), "deliver ABCD; deliver EF; G1 RAIL_ACK 1 @4 ack 6");
}

TEST_F(SwitchingStreamRailsTest, TellsOnTheLifelineBeforeItAnswersAPing) {
  UseBoth();
  stream_.Data(2, 0, "AB");
  stream_.Take();
  stream_.Read(kLifeline, {.type = LinkFrameType::kPing, .number = 7});
  EXPECT_EQ(stream_.Take(), "TCP RAIL_ACK 2 @2 ack 2; TCP PONG 7 @2 ack 2");
  stream_.Read(kLifeline, {.type = LinkFrameType::kPing, .number = 8});
  EXPECT_EQ(stream_.Take(), "TCP PONG 8 @2 ack 2");
}

TEST_F(SwitchingStreamRailsTest, TellsWhatCameByOneThatItGivesUp) {
  UseBoth();
  stream_.Data(2, 0, "AB");
  stream_.Take();
  Break(2);
  EXPECT_EQ(stream_.Take(), "G2 given up; TCP RAIL_ACK 2 @2 ack 2; TCP RESUME 2 @2 ack 2");
}

// A peer that answers for both, and says that nothing came by the first.
TEST_F(SwitchingStreamRailsTest, WhatIsStillGoesOutAgainBeforeItIsGivenUp) {
  UseBoth();
  stream_.Write("abcdefgh");
  RailAck(2, 2, 4);
  stream_.Take();
  stream_.AnswerPings(0);
  // It is asked soon, and again and again until it has been still for 75 ms.
  stream_.Pass(milliseconds(94));
  EXPECT_EQ(stream_.Take(),
            "TCP PING 1 ack 0; TCP PING 2 ack 0; TCP PING 3 ack 0; TCP PING 4 ack 0; "
            "TCP PING 5 ack 0; G1 ACK ack 0; G2 DATA @0+2 ack 0; G2 DATA @4+2 ack 0");
  EXPECT_TRUE(stream_->Alive(1));
  EXPECT_EQ(stream_->sending_on(), 2u);
  RailAck(2, 2, 8);
  stream_.Pass(milliseconds(300));
  EXPECT_EQ(stream_.Take(),
            "TCP PING 6 ack 0; G1 ACK ack 0; TCP PING 7 ack 0; G1 ACK ack 0; TCP PING 8 ack 0; "
            "G1 given up; "
            "TCP RESUME 1 @0 ack 0");
  EXPECT_TRUE(absl::IsDeadlineExceeded(stream_.why()));
}

TEST_F(SwitchingStreamRailsTest, NamesWhatAPeerDidWrong) {
  const auto why = [](auto act) {
    RecordedStream stream(Two());
    EXPECT_TRUE(stream->Expect(1).ok());
    stream->OnGenerationReady(1);
    stream.Write("abc");
    act(stream);
    EXPECT_TRUE(stream->ended());
    return std::string(stream.why().message());
  };
  const auto rail_ack = [&](LinkId link, uint64_t count, uint64_t number) {
    return why([&](RecordedStream& stream) {
      stream.Read(link, {.type = LinkFrameType::kRailAck, .offset = count, .number = number});
    });
  };
  EXPECT_NE(rail_ack(kLifeline, 4, 1).find("and 3 were sent"), std::string::npos);
  EXPECT_NE(rail_ack(kLifeline, 0, 2).find("when 1 were started"), std::string::npos);
  EXPECT_NE(rail_ack(1, 0, 2).find("on another one"), std::string::npos);
  EXPECT_NE(why([](RecordedStream& stream) {
              for (int i = 0; i < 2; ++i) {
                stream.Read(kLifeline, {.type = LinkFrameType::kResume, .number = 1});
              }
            }).find("again"),
            std::string::npos);
}

TEST_F(SwitchingStreamRailsTest, APeerThatAsksForMoreThanAgreedOnIsRefused) {
  EXPECT_TRUE(stream_->Expect(1).ok());
  EXPECT_TRUE(stream_->Expect(2).ok());
  EXPECT_EQ(stream_->Expect(3).code(), absl::StatusCode::kResourceExhausted);
  Break(1);
  EXPECT_EQ(stream_->Expect(3).code(), absl::StatusCode::kResourceExhausted);
  Resume(1, 0);
  EXPECT_TRUE(stream_->Expect(3).ok());
}

TEST(SwitchingStreamTest, RailAckIsABreachWhereOneRailIsAgreedOn) {
  RecordedStream stream;
  stream.UseG1();
  stream.Read(1, {.type = LinkFrameType::kRailAck, .number = 1});
  EXPECT_TRUE(absl::IsInvalidArgument(stream.why()));
}

}  // namespace
}  // namespace farcall
