// SPDX-License-Identifier: Apache-2.0
//
// What a stream sends and acknowledges, and what its window holds.

#include "transport/link/stream/switching_stream.h"

#include <chrono>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "transport/link/stream/testing/recorded_stream.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

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
  stream.Ack(kLifeline, 3);
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
  stream.KeepUnsent(kLifeline, 1);
  stream.Data(kLifeline, 2, "CD");
  stream.Pass(milliseconds(50));
  EXPECT_EQ(stream.Take(), "deliver CD");
  stream.KeepUnsent(kLifeline, 0);
  stream.Pass(milliseconds(5));
  EXPECT_EQ(stream.Take(), "TCP ACK ack 4");
}

TEST(SwitchingStreamTest, ABareAcknowledgementOnTheLifelineHoldsUpNoneOnAGeneration) {
  RecordedStream stream;
  stream.Data(kLifeline, 0, "AB");
  stream.KeepUnsent(kLifeline, 1);
  stream.UseG1();
  stream.Data(kLifeline, 2, "CD");
  EXPECT_EQ(stream.Take(), "deliver CD; G1 ACK ack 4");
  // There it is one at most again.
  stream.KeepUnsent(1, 1);
  stream.Data(kLifeline, 4, "EF");
  stream.Pass(milliseconds(50));
  EXPECT_EQ(stream.Take(), "deliver EF");
  stream.KeepUnsent(1, 0);
  stream.Pass(milliseconds(5));
  EXPECT_EQ(stream.Take(), "G1 ACK ack 6");
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

}  // namespace
}  // namespace farcall
