// SPDX-License-Identifier: Apache-2.0
//
// How a stream ends: closed by either side, timed out, aborted.

#include <chrono>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "transport/link/stream/switching_stream.h"
#include "transport/link/stream/testing/recorded_stream.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

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
  stream.Bye(2, 2);
  EXPECT_EQ(stream.Take(), "TCP ACK ack 2; shut");
  stream->OnLifelineEnd(absl::OkStatus());
  EXPECT_EQ(stream.Take(), "end OK");
}

TEST(SwitchingStreamTest, AnOrderlyCloseOfThePeer) {
  RecordedStream stream;
  stream.Bye(2, 0);
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
  stream.Bye(0, 0);
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
  stream.Bye(2, 0);
  EXPECT_EQ(stream.Take(), "TCP BYE @0 ack 2; TCP ACK ack 2; shut");
}

TEST(SwitchingStreamTest, AGenerationThatDiesWhileClosingCostsNothing) {
  RecordedStream stream;
  stream.UseG1();
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

}  // namespace
}  // namespace farcall
