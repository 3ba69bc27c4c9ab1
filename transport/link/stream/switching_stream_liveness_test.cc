// SPDX-License-Identifier: Apache-2.0
//
// What a stream takes for dead: a generation, or its peer.

#include <chrono>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "transport/link/stream/switching_stream.h"
#include "transport/link/stream/testing/recorded_stream.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

TEST(SwitchingStreamTest, ASilentGenerationIsGivenUpAndAMovingOneIsNot) {
  RecordedStream stream;
  stream.UseG1();
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

// A call that is under way must not run twice because a wire stood still for a second.
TEST(SwitchingStreamTest, WhereTcpDoesNotCarryOnTheLastGenerationHasAsLongAsADeadPeer) {
  for (const uint32_t rails : {1, 2}) {
    StreamLimits limits = RecordedStream::Small();
    limits.tcp_carries_on = false;
    limits.rails = rails;
    RecordedStream stream(limits);
    stream.UseG1();
    stream.Write("abcd");
    stream.Take();
    for (int passed = 0; passed < 9900; passed += 100) {
      stream.AnswerPings(0);
      stream.Pass(milliseconds(100));
    }
    EXPECT_EQ(stream->sending_on(), 1u);
    for (int passed = 0; passed < 400; passed += 100) {
      stream.AnswerPings(0);
      stream.Pass(milliseconds(100));
    }
    EXPECT_EQ(stream->sending_on(), kLifeline);
    EXPECT_NE(stream.why().message().find("10000 ms"), absl::string_view::npos) << stream.why();
  }
}

// Some drivers miss what came first, until more comes.
TEST(SwitchingStreamTest, WhatStandsStillIsNudgedBeforeItIsGivenUp) {
  for (const uint32_t rails : {1, 2}) {
    StreamLimits limits = RecordedStream::Small();
    limits.rails = rails;
    RecordedStream stream(limits);
    stream.UseG1();
    stream.Write("abcd");
    stream.Take();
    for (int passed = 0; passed < 250; passed += 50) {
      stream.AnswerPings(0);
      stream.Pass(milliseconds(50));
    }
    EXPECT_EQ(stream->sending_on(), 1u);
    EXPECT_NE(stream.Take().find("G1 ACK"), std::string::npos);
  }
}

TEST(SwitchingStreamTest, ASlowLifelineProvesNothingAgainstAGeneration) {
  RecordedStream stream;
  stream.UseG1();
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
  stream.Ack(1, 4);
  stream.Pass(milliseconds(6000));
  EXPECT_FALSE(stream->ended());
  stream.Pass(milliseconds(5000));
  EXPECT_TRUE(stream->ended());
}

TEST(SwitchingStreamTest, SteadyTrafficSetsNoTimerAnewAndSendsNoPing) {
  RecordedStream stream;
  stream.UseG1();
  for (uint64_t call = 0; call < 1000; ++call) {
    stream.Write("q");
    stream.Pass(milliseconds(1));
    stream.Data(1, call, "R", /*acknowledged=*/call + 1);
  }
  // One a second for the lifeline, which is silent meanwhile.
  EXPECT_LE(stream->stats().pings, 1u);
}

}  // namespace
}  // namespace farcall
