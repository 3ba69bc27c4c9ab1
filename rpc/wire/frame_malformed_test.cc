// SPDX-License-Identifier: Apache-2.0
//
// What CutFrame refuses: when, with which words, and with the input as it was.

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rpc/wire/frame.h"
#include "rpc/wire/frame_testing.h"

namespace farcall {
namespace {

using testing::FromHex;
using ::testing::HasSubstr;
using testing::Header;
using testing::RawFrame;

// The error for `bytes`, which must be the same in one piece and in single bytes.
absl::Status Refusal(const std::string& bytes, FrameLimits limits = FrameLimits()) {
  Frame frame;
  Buffer input(bytes);
  const absl::Status status = CutFrame(input, limits, frame).status();
  EXPECT_EQ(input.ToString(), bytes);
  Buffer pieces = testing::InPieces(bytes, 1);
  EXPECT_EQ(CutFrame(pieces, limits, frame).status(), status);
  EXPECT_EQ(pieces.size(), bytes.size());
  return status;
}

TEST(FrameMalformedTest, WrongMagicIsRefusedAtTheFirstByteThatDiffers) {
  for (const char* bytes : {"X", "PX", "PRX", "PRPX", "GET / HTTP/1.1\r\n", "prpc", "STRM"}) {
    EXPECT_EQ(Refusal(bytes).code(), absl::StatusCode::kInvalidArgument) << bytes;
  }
  for (const char* bytes : {"", "P", "PR", "PRP", "PRPC"}) {
    Buffer input{absl::string_view(bytes)};
    Frame frame;
    EXPECT_EQ(*CutFrame(input, FrameLimits(), frame), kFrameHeaderSize) << bytes;
  }
}

TEST(FrameMalformedTest, WrongMagicIsShownSafely) {
  EXPECT_THAT(Refusal("GET / HTTP/1.1\r\n").ToString(), HasSubstr("\"GET \""));
  // The beginning of TLS, and of nothing.
  EXPECT_THAT(Refusal(FromHex("160301ff00")).ToString(), HasSubstr("\"\\x16\\x03\\x01\\xff\""));
  EXPECT_THAT(Refusal(std::string(12, '\0')).ToString(), HasSubstr("\\x00\\x00\\x00\\x00"));
}

TEST(FrameMalformedTest, WrongMagicAfterAFrameIsRefusedThere) {
  Buffer input(RawFrame("", "", "") + "HTTP");
  Frame frame;
  ASSERT_EQ(*CutFrame(input, FrameLimits(), frame), 0u);
  EXPECT_THAT(CutFrame(input, FrameLimits(), frame).status().ToString(), HasSubstr("HTTP"));
  EXPECT_EQ(input.ToString(), "HTTP");
}

TEST(FrameMalformedTest, BodyOverTheLimitIsRefusedByItsHeader) {
  const FrameLimits limits{.max_body_size = 1000};
  for (const uint32_t size : {1001u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
    const absl::Status status = Refusal(Header(size, 0), limits);
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << size;
    EXPECT_THAT(status.ToString(), HasSubstr("max_body_size, 1000"));
    EXPECT_THAT(status.ToString(), HasSubstr(std::to_string(size)));
  }
}

TEST(FrameMalformedTest, BodyOfFourGigabytesIsOnlyANumberWhereTheLimitAllowsIt) {
  const FrameLimits limits{.max_body_size = UINT32_MAX};
  Buffer input(Header(0xffffffff, 0));
  Frame frame;
  EXPECT_EQ(*CutFrame(input, limits, frame), kFrameHeaderSize + 0xffffffffull);
}

TEST(FrameMalformedTest, MetaLargerThanBodyIsRefusedByItsHeader) {
  EXPECT_THAT(Refusal(Header(10, 11)).ToString(), HasSubstr("larger than its body"));
  EXPECT_THAT(Refusal(Header(0, 1)).ToString(), HasSubstr("larger than its body"));
  EXPECT_EQ(Refusal(Header(10, 0xffffffff)).code(), absl::StatusCode::kInvalidArgument);
}

TEST(FrameMalformedTest, MetaOverItsLimitIsRefusedByItsHeader) {
  const absl::Status status = Refusal(Header(2000, 1001), FrameLimits{.max_meta_size = 1000});
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Refusal(Header(2 << 20, (1 << 20) + 1)).code(), absl::StatusCode::kResourceExhausted);
}

TEST(FrameMalformedTest, MetaThatDoesNotParseIsRefused) {
  const std::string bad_metas[] = {
      FromHex("0a"),                           // a field without its length
      FromHex("0a05 0a03"),                    // a length beyond the meta
      FromHex("00"),                           // field number 0
      FromHex("20 ffffffffffffffffffffff01"),  // a varint of 12 bytes
      FromHex("0a ffffffff0f"),                // a length below 0
      FromHex("0c"),                           // an end of a group that did not begin
      FromHex("0b"),                           // a group that does not end
      FromHex("0a02 0a05"),                    // the same one level down
  };
  for (const std::string& meta : bad_metas) {
    const absl::Status status = Refusal(RawFrame(meta, "payload", ""));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.ToString(), HasSubstr("does not parse"));
  }
}

TEST(FrameMalformedTest, GroupsNestedWithoutEndAreRefused) {
  const absl::Status status = Refusal(RawFrame(std::string(10'000, '\x7b'), "", ""));
  EXPECT_THAT(status.ToString(), HasSubstr("does not parse"));
}

TEST(FrameMalformedTest, MetaDoesNotReadOnIntoThePayload) {
  // The meta says "a string of 4 bytes", of which the payload would have two.
  EXPECT_THAT(Refusal(RawFrame(FromHex("3a04 6161"), "aa", "")).ToString(),
              HasSubstr("does not parse"));
}

TEST(FrameMalformedTest, AttachmentSizeBelowZeroIsRefused) {
  wire::RpcMeta meta;
  for (const int32_t size : {-1, INT32_MIN}) {
    meta.set_attachment_size(size);
    const absl::Status status = Refusal(RawFrame(meta.SerializeAsString(), "payload", ""));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.ToString(), HasSubstr("attachment_size is " + std::to_string(size)));
  }
}

TEST(FrameMalformedTest, AttachmentLargerThanWhatFollowsTheMetaIsRefused) {
  wire::RpcMeta meta;
  for (const int32_t size : {8, INT32_MAX}) {
    meta.set_attachment_size(size);
    const absl::Status status = Refusal(RawFrame(meta.SerializeAsString(), "1234567", ""));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.ToString(), HasSubstr("7 bytes follow the meta"));
  }
}

TEST(FrameMalformedTest, AFrameIsCutAfterAnErrorOfAnotherConnection) {
  Frame frame;
  Buffer bad(RawFrame(FromHex("0a05 0a03"), "payload", ""));
  ASSERT_FALSE(CutFrame(bad, FrameLimits(), frame).ok());
  Buffer good(RawFrame(FromHex("2007"), "payload", ""));
  ASSERT_EQ(*CutFrame(good, FrameLimits(), frame), 0u);
  EXPECT_EQ(frame.meta.correlation_id(), 7);
  EXPECT_FALSE(frame.meta.has_request());
  EXPECT_EQ(frame.payload.ToString(), "payload");
}

}  // namespace
}  // namespace farcall
