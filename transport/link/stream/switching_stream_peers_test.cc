// SPDX-License-Identifier: Apache-2.0
//
// Peers that break rules.

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "transport/link/stream/switching_stream.h"
#include "transport/link/stream/testing/recorded_stream.h"

namespace farcall {
namespace {

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
              stream.Bye(3, 0);
              stream.Data(kLifeline, 0, "ABCD");
            }).find("after a BYE at 3"),
            std::string::npos);
  EXPECT_NE(why([](RecordedStream& stream) {
              stream.Bye(3, 0);
              stream.Bye(3, 0);
            }).find("after another"),
            std::string::npos);
  EXPECT_NE(why([](RecordedStream& stream) {
              stream.Data(kLifeline, 0, "AB");
              stream.Bye(1, 0);
            }).find("had passed"),
            std::string::npos);
  EXPECT_NE(why([](RecordedStream& stream) {
              stream.KeepUnsent(kLifeline, 1);
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
