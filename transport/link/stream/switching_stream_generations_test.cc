// SPDX-License-Identifier: Apache-2.0
//
// Up to a generation, and back to the lifeline.

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "transport/link/stream/switching_stream.h"
#include "transport/link/stream/testing/recorded_stream.h"

namespace farcall {
namespace {

TEST(SwitchingStreamTest, EarlyBytesOfAGenerationWaitForThoseOfTheLifeline) {
  RecordedStream stream;
  stream.UseG1();
  stream.Data(1, 2, "CD");
  stream.Data(1, 4, "E");
  EXPECT_EQ(stream.Take(), "");
  EXPECT_EQ(stream->early(), 3u);
  stream.Data(kLifeline, 0, "A");
  EXPECT_EQ(stream.Take(), "deliver A");
  stream.Data(kLifeline, 1, "B");
  EXPECT_EQ(stream.Take(), "deliver B; deliver CDE; G1 ACK ack 5");
  EXPECT_EQ(stream->early(), 0u);
}

TEST(SwitchingStreamTest, EarlyBytesOfAGenerationThatDiedNeedNotComeAgain) {
  RecordedStream stream;
  stream.UseG1();
  stream.Data(1, 2, "CD");
  stream->OnGenerationBroken(1, absl::UnavailableError("x"));
  stream->Flush(stream.now());
  EXPECT_EQ(stream.Take(), "G1 given up; TCP RESUME 1 @0 ack 0");
  stream.Data(kLifeline, 0, "ABC");
  EXPECT_EQ(stream.Take(), "deliver ABC; deliver D; TCP ACK ack 4");
  EXPECT_EQ(stream->stats().dropped_bytes, 1u);
}

TEST(SwitchingStreamTest, TheWholeCircleUpAndDownAndUpAgain) {
  RecordedStream stream;
  stream.Write("ab");
  stream.UseG1();
  stream.Write("cd");
  stream.Ack(1, 3);
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
  stream.UseG1();
  stream.Write("abcd");
  stream->OnGenerationBroken(1, absl::UnavailableError("x"));
  stream.Take();
  stream.Read(kLifeline, {.type = LinkFrameType::kResume, .offset = 3, .number = 1});
  EXPECT_EQ(stream.Take(), "TCP DATA @3+1 ack 0");
}

TEST(SwitchingStreamTest, BytesAcknowledgedWhileTheyWaitToBeSentAgainAreNotSent) {
  RecordedStream stream;
  stream.UseG1();
  stream.Write("abcd");
  stream->OnGenerationBroken(1, absl::UnavailableError("x"));
  stream.Take();
  stream.Ack(kLifeline, 2);
  EXPECT_EQ(stream.Take(), "TCP DATA @2+2 ack 0");
  EXPECT_EQ(stream->backlog(), 0u);
}

TEST(SwitchingStreamTest, FramesOfADeadGenerationCountNothing) {
  RecordedStream stream;
  stream.UseG1();
  stream.Write("ab");
  stream->OnGenerationBroken(1, absl::UnavailableError("x"));
  stream->Flush(stream.now());
  stream.Take();
  stream.Data(1, 0, "AB", /*acknowledged=*/2);
  EXPECT_EQ(stream.Take(), "");
  stream.Ack(kLifeline, 1);  // and that was not known
  EXPECT_FALSE(stream->ended());
}

}  // namespace
}  // namespace farcall
