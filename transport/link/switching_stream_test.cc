// SPDX-License-Identifier: Apache-2.0

#include "transport/link/switching_stream.h"

#include <chrono>
#include <string>

#include "gtest/gtest.h"
#include "transport/link/testing/recorded_stream.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

void Ack(RecordedStream& stream, LinkId link, uint64_t acknowledged) {
  stream.Read(link, {.type = LinkFrameType::kAck, .acknowledged = acknowledged});
}

void Bye(RecordedStream& stream, uint64_t offset, uint64_t acknowledged) {
  stream.Read(kLifeline,
              {.type = LinkFrameType::kBye, .offset = offset, .acknowledged = acknowledged});
}

void UseG1(RecordedStream& stream) {
  ASSERT_TRUE(stream->MayStart());
  ASSERT_EQ(stream->Start(), 1u);
  stream->OnGenerationReady(1);
  stream.Take();
}

TEST(SwitchingStreamTest, WhatATurnWritesLeavesInOneFrame) {
  StreamLimits limits = RecordedStream::Small();
  limits.max_data = 100;
  RecordedStream stream(limits);
  stream->Write(Buffer("ab"));
  stream->Write(Buffer("cd"));
  EXPECT_EQ(stream->backlog(), 4u);
  stream->Flush(stream.now());
  EXPECT_EQ(stream.Take(), "TCP DATA @0+4 ack 0");
  EXPECT_EQ(stream->backlog(), 0u);
}

TEST(SwitchingStreamTest, FramesAreCutToTheLimitAndTheWindow) {
  RecordedStream stream;
  stream.Write("abcdefghij");
  EXPECT_EQ(stream.Take(), "TCP DATA @0+4 ack 0; TCP DATA @4+4 ack 0");
  EXPECT_EQ(stream->backlog(), 2u);
  Ack(stream, kLifeline, 3);
  EXPECT_EQ(stream.Take(), "TCP DATA @8+2 ack 0");
}

TEST(SwitchingStreamTest, AQuarterOfTheWindowIsAcknowledgedAtOnceAndLessAfterAWhile) {
  RecordedStream stream;
  stream.Data(kLifeline, 0, "AB");
  EXPECT_EQ(stream.Take(), "deliver AB; TCP ACK ack 2");
  stream.Data(kLifeline, 2, "C");
  EXPECT_EQ(stream.Take(), "deliver C");
  stream.Pass(milliseconds(4));
  EXPECT_EQ(stream.Take(), "");
  stream.Pass(milliseconds(1));
  EXPECT_EQ(stream.Take(), "TCP ACK ack 3");
  stream.Pass(milliseconds(500));
  EXPECT_EQ(stream.Take(), "");
}

TEST(SwitchingStreamTest, DataCarriesTheAcknowledgement) {
  RecordedStream stream;
  stream.Data(kLifeline, 0, "A");
  stream.Write("a");
  EXPECT_EQ(stream.Take(), "deliver A; TCP DATA @0+1 ack 1");
  stream.Pass(milliseconds(50));
  EXPECT_EQ(stream.Take(), "");
}

TEST(SwitchingStreamTest, OneBareAcknowledgementWaitsAtMost) {
  RecordedStream stream;
  stream.Data(kLifeline, 0, "AB");
  EXPECT_EQ(stream.Take(), "deliver AB; TCP ACK ack 2");
  stream.KeepUnsent(1);
  stream.Data(kLifeline, 2, "CD");
  stream.Pass(milliseconds(50));
  EXPECT_EQ(stream.Take(), "deliver CD");
  stream.KeepUnsent(0);
  stream.Pass(milliseconds(5));
  EXPECT_EQ(stream.Take(), "TCP ACK ack 4");
}

TEST(SwitchingStreamTest, APausedHandlerStopsAcknowledgementsButNotTheTruthOfPongs) {
  RecordedStream stream;
  stream.Data(kLifeline, 0, "AB");
  stream->SetPaused(true, stream.now());
  stream.Take();
  stream.Data(kLifeline, 2, "CDEF");
  stream.Pass(milliseconds(50));
  stream.Read(kLifeline, {.type = LinkFrameType::kPing, .number = 5});
  EXPECT_EQ(stream.Take(), "deliver CDEF; TCP PONG 5 @6 ack 2");
  stream->SetPaused(false, stream.now());
  stream->Flush(stream.now());
  EXPECT_EQ(stream.Take(), "TCP ACK ack 6");
}

TEST(SwitchingStreamTest, TheWindowHoldsAPeerThatAPausedHandlerDoesNotRead) {
  RecordedStream stream;
  stream->SetPaused(true, stream.now());
  stream.Data(kLifeline, 0, "ABCDEFGH");
  EXPECT_EQ(stream.Take(), "deliver ABCDEFGH");
  stream.Data(kLifeline, 8, "I");
  EXPECT_EQ(stream.Take(), "end INVALID_ARGUMENT");
  EXPECT_NE(stream.why().message().find("the window ends at 8"), absl::string_view::npos);
}

TEST(SwitchingStreamTest, WhatCameBeforeIsDroppedAndTheRestDelivered) {
  RecordedStream stream;
  stream.Data(kLifeline, 0, "ABC");
  stream.Data(kLifeline, 1, "BCDE");
  stream.Data(kLifeline, 0, "AB");
  EXPECT_EQ(stream.Take(), "deliver ABC; TCP ACK ack 3; deliver DE; TCP ACK ack 5");
  EXPECT_EQ(stream->stats().dropped_bytes, 4u);
}

TEST(SwitchingStreamTest, EarlyBytesOfAGenerationWaitForThoseOfTheLifeline) {
  RecordedStream stream;
  UseG1(stream);
  stream.Data(1, 2, "CD");
  EXPECT_EQ(stream.Take(), "G1 pause");
  EXPECT_FALSE(stream->Reads(1));
  stream.Data(kLifeline, 0, "A");
  EXPECT_EQ(stream.Take(), "deliver A");
  stream.Data(kLifeline, 1, "B");
  EXPECT_EQ(stream.Take(), "deliver B; deliver CD; G1 resume; G1 ACK ack 4");
  EXPECT_TRUE(stream->Reads(1));
}

TEST(SwitchingStreamTest, TheWholeCircleUpAndDownAndUpAgain) {
  RecordedStream stream;
  stream.Write("ab");
  UseG1(stream);
  stream.Write("cd");
  Ack(stream, 1, 3);
  EXPECT_EQ(stream.Take(), "G1 DATA @2+2 ack 0");
  EXPECT_FALSE(stream->MayStart());
  stream->OnGenerationBroken(1, absl::UnavailableError("cable"));
  stream->Flush(stream.now());
  EXPECT_EQ(stream.Take(), "G1 given up; TCP RESUME 1 @0 ack 0; TCP DATA @3+1 ack 0");
  EXPECT_EQ(stream.why().message(), "cable");
  // The peer's own RESUME changes nothing any more.
  stream.Read(kLifeline, {.type = LinkFrameType::kResume, .offset = 4, .number = 1});
  ASSERT_TRUE(stream->MayStart());
  EXPECT_EQ(stream->Start(), 2u);
  stream->OnGenerationReady(1);  // too late
  stream.Write("e");
  EXPECT_EQ(stream.Take(), "TCP DATA @4+1 ack 0");
  stream->OnGenerationReady(2);
  stream.Write("f");
  EXPECT_EQ(stream.Take(), "G2 DATA @5+1 ack 0");
  EXPECT_EQ(stream->stats().upgrades, 2u);
  EXPECT_EQ(stream->stats().fallbacks, 1u);
  EXPECT_EQ(stream->stats().resent_bytes, 1u);
}

TEST(SwitchingStreamTest, AResumeReadLaterSparesWhatWasNotSentAgainYet) {
  RecordedStream stream;
  UseG1(stream);
  stream.Write("abcd");
  stream->OnGenerationBroken(1, absl::UnavailableError("x"));
  stream.Take();
  stream.Read(kLifeline, {.type = LinkFrameType::kResume, .offset = 3, .number = 1});
  EXPECT_EQ(stream.Take(), "TCP DATA @3+1 ack 0");
}

TEST(SwitchingStreamTest, BytesAcknowledgedWhileTheyWaitToBeSentAgainAreNotSent) {
  RecordedStream stream;
  UseG1(stream);
  stream.Write("abcd");
  stream->OnGenerationBroken(1, absl::UnavailableError("x"));
  stream.Take();
  Ack(stream, kLifeline, 2);
  EXPECT_EQ(stream.Take(), "TCP DATA @2+2 ack 0");
  EXPECT_EQ(stream->backlog(), 0u);
}

TEST(SwitchingStreamTest, FramesOfADeadGenerationCountNothing) {
  RecordedStream stream;
  UseG1(stream);
  stream.Write("ab");
  stream->OnGenerationBroken(1, absl::UnavailableError("x"));
  stream->Flush(stream.now());
  stream.Take();
  stream.Data(1, 0, "AB", /*acknowledged=*/2);
  EXPECT_EQ(stream.Take(), "");
  Ack(stream, kLifeline, 1);  // and that was not known
  EXPECT_FALSE(stream->ended());
}

TEST(SwitchingStreamTest, ASilentGenerationIsGivenUpAndAMovingOneIsNot) {
  RecordedStream stream;
  UseG1(stream);
  stream.Write("abcdefgh");
  stream.Take();
  for (uint64_t received = 0; received < 6; ++received) {
    stream.AnswerPings(received);
    stream.Pass(milliseconds(250));
  }
  EXPECT_EQ(stream->sending_on(), 1u);
  stream.Pass(milliseconds(400));
  EXPECT_EQ(stream->sending_on(), kLifeline);
  EXPECT_NE(stream.why().message().find("300 ms"), absl::string_view::npos);
}

TEST(SwitchingStreamTest, ASlowLifelineProvesNothingAgainstAGeneration) {
  RecordedStream stream;
  UseG1(stream);
  stream.Write("abcd");
  stream.Pass(milliseconds(5000));  // the PING is not answered
  EXPECT_EQ(stream->sending_on(), 1u);
}

TEST(SwitchingStreamTest, AnIdleLifelineIsAskedAndAnAnswerKeepsItIdle) {
  RecordedStream stream;
  stream.AnswerPings(0);
  stream.Pass(milliseconds(10500));
  EXPECT_EQ(stream->stats().pings, 10u);
  EXPECT_FALSE(stream->ended());
  stream->SetExpectsAnswer(false);
  stream.Pass(milliseconds(10000));
  EXPECT_EQ(stream->stats().pings, 10u);
  EXPECT_EQ(stream->NextTimer(), std::nullopt);
}

TEST(SwitchingStreamTest, ASilentPeerIsDeadAfterTheBound) {
  RecordedStream stream;
  stream.Pass(milliseconds(10999));
  EXPECT_EQ(stream.Take(), "TCP PING 1 ack 0");
  stream.Pass(milliseconds(1));
  EXPECT_EQ(stream.Take(), "end UNAVAILABLE");
  EXPECT_NE(stream.why().message().find("silent for 10000 ms"), absl::string_view::npos);
}

TEST(SwitchingStreamTest, BytesThatArriveBySlowLifelineAreASignOfLife) {
  RecordedStream stream;
  stream.Write("abcdefgh");
  stream->Start();
  stream->OnGenerationReady(1);
  stream.Pass(milliseconds(6000));
  Ack(stream, 1, 4);
  stream.Pass(milliseconds(6000));
  EXPECT_FALSE(stream->ended());
  stream.Pass(milliseconds(5000));
  EXPECT_TRUE(stream->ended());
}

TEST(SwitchingStreamTest, SteadyTrafficSetsNoTimerAnewAndSendsNoPing) {
  RecordedStream stream;
  UseG1(stream);
  for (uint64_t call = 0; call < 1000; ++call) {
    stream.Write("q");
    stream.Pass(milliseconds(1));
    stream.Data(1, call, "R", /*acknowledged=*/call + 1);
  }
  // One a second for the lifeline, which is silent meanwhile.
  EXPECT_LE(stream->stats().pings, 1u);
}

// --- How it ends.

TEST(SwitchingStreamTest, AnOrderlyCloseOfThisSide) {
  RecordedStream stream;
  stream.Write("ab");
  stream.Take();
  stream->CloseAfterFlush(stream.now());
  EXPECT_EQ(stream.Take(), "TCP BYE @2 ack 0");
  EXPECT_FALSE(stream->MayStart());
  stream->Write(Buffer("dropped"));
  stream.Data(kLifeline, 0, "AB", /*acknowledged=*/2);
  EXPECT_EQ(stream.Take(), "TCP ACK ack 2");
  Bye(stream, 2, 2);
  EXPECT_EQ(stream.Take(), "TCP ACK ack 2; shut");
  stream->OnLifelineEnd(absl::OkStatus());
  EXPECT_EQ(stream.Take(), "end OK");
}

TEST(SwitchingStreamTest, AnOrderlyCloseOfThePeer) {
  RecordedStream stream;
  Bye(stream, 2, 0);
  EXPECT_EQ(stream.Take(), "");
  stream.Data(kLifeline, 0, "AB");
  EXPECT_EQ(stream.Take(), "deliver AB; TCP BYE @0 ack 2; TCP ACK ack 2; shut");
  stream->OnLifelineEnd(absl::UnavailableError("reset, but all was said"));
  EXPECT_EQ(stream.Take(), "end UNAVAILABLE");
  EXPECT_EQ(stream.why().message(), "closed by peer");
}

TEST(SwitchingStreamTest, WhatThePeerWillNotReadIsNotSent) {
  RecordedStream stream;
  stream.Write("abcdefghij");
  Bye(stream, 0, 0);
  EXPECT_EQ(stream->backlog(), 0u);
  stream->Write(Buffer("k"));
  EXPECT_EQ(stream->backlog(), 0u);
  EXPECT_EQ(stream.Take(), "TCP DATA @0+4 ack 0; TCP DATA @4+4 ack 0; TCP BYE @8 ack 0");
}

TEST(SwitchingStreamTest, APausedHandlerDoesNotHoldUpTheEnd) {
  RecordedStream stream;
  stream->SetPaused(true, stream.now());
  stream.Data(kLifeline, 0, "AB");
  EXPECT_EQ(stream.Take(), "deliver AB");
  Bye(stream, 2, 0);
  EXPECT_EQ(stream.Take(), "TCP BYE @0 ack 2; TCP ACK ack 2; shut");
}

TEST(SwitchingStreamTest, AGenerationThatDiesWhileClosingCostsNothing) {
  RecordedStream stream;
  UseG1(stream);
  stream.Write("ab");
  stream->CloseAfterFlush(stream.now());
  stream.Take();
  stream->OnGenerationBroken(1, absl::UnavailableError("x"));
  stream->Flush(stream.now());
  EXPECT_EQ(stream.Take(), "G1 given up; TCP RESUME 1 @0 ack 0; TCP DATA @0+2 ack 0");
}

TEST(SwitchingStreamTest, ACloseThatThePeerDoesNotAnswerTimesOut) {
  RecordedStream stream;
  stream.Write("ab");
  stream->CloseAfterFlush(stream.now());
  stream.Pass(milliseconds(2999));
  EXPECT_FALSE(stream->ended());
  stream.Pass(milliseconds(1));
  EXPECT_TRUE(stream->ended());
  EXPECT_EQ(stream.why().message(), "close timed out: in 3000 ms the peer took 0 of 2 bytes");
}

TEST(SwitchingStreamTest, AbortEndsAtOnceAndOnce) {
  RecordedStream stream;
  stream->Abort(absl::CancelledError("enough"));
  stream->Abort(absl::CancelledError("again"));
  stream->CloseAfterFlush(stream.now());
  stream->OnLifelineEnd(absl::OkStatus());
  stream.Write("x");
  stream.Pass(milliseconds(20000));
  EXPECT_EQ(stream.Take(), "end CANCELLED");
}

// --- Peers that break rules.

TEST(SwitchingStreamTest, NamesWhatAPeerDidWrong) {
  const auto why = [](auto act) {
    RecordedStream stream;
    EXPECT_TRUE(stream->Expect(1).ok());
    stream->OnGenerationReady(1);
    stream.Write("abc");
    act(stream);
    EXPECT_TRUE(stream->ended());
    return std::string(stream.why().message());
  };
  const auto read = [&](LinkFrame frame) {
    return why([&](RecordedStream& stream) { stream.Read(kLifeline, std::move(frame)); });
  };
  EXPECT_NE(read({.type = LinkFrameType::kPong, .number = 1}).find("answers no PING"),
            std::string::npos);
  EXPECT_NE(read({.type = LinkFrameType::kResume, .offset = 4, .number = 1}).find("3 bytes were"),
            std::string::npos);
  EXPECT_NE(why([](RecordedStream& stream) {
              Bye(stream, 3, 0);
              stream.Data(kLifeline, 0, "ABCD");
            }).find("after a BYE at 3"),
            std::string::npos);
  EXPECT_NE(why([](RecordedStream& stream) {
              Bye(stream, 3, 0);
              Bye(stream, 3, 0);
            }).find("after another"),
            std::string::npos);
  EXPECT_NE(why([](RecordedStream& stream) {
              stream.Data(kLifeline, 0, "AB");
              Bye(stream, 1, 0);
            }).find("had passed"),
            std::string::npos);
  EXPECT_NE(why([](RecordedStream& stream) {
              stream.KeepUnsent(1);
              stream.Read(kLifeline, {.type = LinkFrameType::kPing, .number = 1});
              stream.Read(kLifeline, {.type = LinkFrameType::kPing, .number = 2});
            }).find("before the answer"),
            std::string::npos);
  EXPECT_EQ(why([](RecordedStream& stream) {
              stream->OnGarbage(1, absl::InvalidArgumentError("malformed"));
            }),
            "on generation 1: malformed");
}

TEST(SwitchingStreamTest, RefusesGenerationsOutOfOrderOrWithoutBound) {
  RecordedStream stream;
  EXPECT_FALSE(stream->Expect(2).ok());
  EXPECT_FALSE(stream->Expect(0).ok());
  for (uint32_t i = 1; i <= 4; ++i) EXPECT_TRUE(stream->Expect(i).ok());
  EXPECT_FALSE(stream->Expect(4).ok());
  EXPECT_EQ(stream->Expect(5).code(), absl::StatusCode::kResourceExhausted);
}

TEST(SwitchingStreamTest, UpgradeFramesAreLeftToTheCaller) {
  RecordedStream stream;
  stream->SendUpgrade(LinkFrameType::kUpgradeAsk, "please");
  EXPECT_EQ(stream.Take(), "TCP UPGRADE_ASK @0+6 ack 0");
  LinkFrame frame{.type = LinkFrameType::kUpgradeOffer, .payload = Buffer("here")};
  stream->OnFrame(kLifeline, frame, stream.now());
  EXPECT_EQ(frame.payload.ToString(), "here");
}

}  // namespace
}  // namespace farcall
