// SPDX-License-Identifier: Apache-2.0

#include "rpc/wire/payload.h"

#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rpc/wire/frame_testing.h"

namespace farcall {
namespace {

using testing::EchoMessage;
using testing::FromHex;
using ::testing::HasSubstr;
using testing::InPieces;

EchoMessage LargeEcho() {
  EchoMessage echo = testing::Echo(std::string(500, 'm'));
  for (int i = 0; i < 20; ++i) echo.add_bulk(std::string(static_cast<size_t>(i) * 10, 'b'));
  return echo;
}

TEST(PayloadTest, ParsesOnePieceAndManyAlike) {
  const EchoMessage echo = LargeEcho();
  const std::string bytes = echo.SerializeAsString();
  for (const size_t piece : {bytes.size(), size_t{1}, size_t{7}, size_t{16}, size_t{600}}) {
    EchoMessage parsed;
    ASSERT_TRUE(ParsePayload(InPieces(bytes, piece), parsed).ok()) << piece;
    EXPECT_EQ(parsed.SerializeAsString(), bytes);
  }
}

TEST(PayloadTest, ReplacesWhatTheMessageHeld) {
  EchoMessage message = LargeEcho();
  ASSERT_TRUE(ParsePayload(Buffer(testing::Echo("new").SerializeAsString()), message).ok());
  EXPECT_EQ(message.message(), "new");
  EXPECT_EQ(message.bulk_size(), 0);
}

TEST(PayloadTest, NoBytesAreAMessageWithoutFields) {
  wire::RpcMeta message;
  message.set_correlation_id(1);
  ASSERT_TRUE(ParsePayload(Buffer(), message).ok());
  EXPECT_FALSE(message.has_correlation_id());
}

TEST(PayloadTest, MissingRequiredFieldsAreNamed) {
  for (const std::string& bytes : {std::string(), FromHex("1201 62")}) {
    EchoMessage message;
    const absl::Status status = ParsePayload(Buffer(bytes), message);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(), "farcall.testing.EchoMessage lacks required fields: message");
  }
}

TEST(PayloadTest, BytesThatAreNoMessageAreRefusedWithItsName) {
  const std::string valid = LargeEcho().SerializeAsString();
  for (const std::string& bytes : {FromHex("0a"), FromHex("0a05 6161"), FromHex("ffffffffff"),
                                   FromHex("0c"), valid.substr(0, valid.size() - 1)}) {
    for (const size_t piece : {bytes.size(), size_t{1}}) {
      EchoMessage message;
      const absl::Status status = ParsePayload(InPieces(bytes, piece), message);
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
      EXPECT_THAT(status.ToString(), HasSubstr("is not a farcall.testing.EchoMessage"));
    }
  }
}

TEST(PayloadTest, UnknownFieldsAreHarmless) {
  EchoMessage message;
  ASSERT_TRUE(ParsePayload(Buffer(FromHex("0a0161 f00601")), message).ok());
  EXPECT_EQ(message.message(), "a");
}

}  // namespace
}  // namespace farcall
