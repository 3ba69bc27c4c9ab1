// SPDX-License-Identifier: Apache-2.0
//
// Frames as other implementations write them, byte by byte: what they send is
// understood, and what is sent is what they would have sent.

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/wire/frame.h"
#include "rpc/wire/frame_testing.h"
#include "rpc/wire/payload.h"

namespace farcall {
namespace {

using testing::EchoMessage;
using testing::Encode;
using testing::FromHex;

// Captured from brpc-java 3.0.5: Echo("hello") with a 4-byte attachment, the second call
// of the process. It writes zeros out: log_id, compress_type, error_code.
const char kRequest[] =
    "50525043 00000030 00000025"
    "0a1d 0a13 6578616d706c652e4563686f53657276696365 1204 4563686f 1800"
    "1800 2001 2804"
    "0a05 68656c6c6f 73d51abb";
const char kResponse[] =
    "50525043 00000015 0000000a"
    "1202 0800"
    "1800 2001 2804"
    "0a05 68656c6c6f 73d51abb";

Frame Cut(const std::string& bytes) {
  Buffer input(bytes);
  Frame frame;
  const auto needed = CutFrame(input, FrameLimits(), frame);
  EXPECT_TRUE(needed.ok()) << needed.status();
  EXPECT_EQ(needed.value_or(1), 0u);
  EXPECT_TRUE(input.empty());
  return frame;
}

TEST(FrameGoldenTest, RequestOfBrpcJavaIsUnderstood) {
  const Frame frame = Cut(FromHex(kRequest));
  ASSERT_TRUE(frame.meta.has_request());
  EXPECT_FALSE(frame.meta.has_response());
  EXPECT_EQ(frame.meta.request().service_name(), "example.EchoService");
  EXPECT_EQ(frame.meta.request().method_name(), "Echo");
  EXPECT_TRUE(frame.meta.request().has_log_id());
  EXPECT_FALSE(frame.meta.request().has_timeout_ms());
  EXPECT_EQ(frame.meta.compress_type(), wire::COMPRESS_NONE);
  EXPECT_EQ(frame.meta.correlation_id(), 1);
  EXPECT_EQ(frame.attachment.ToString(), FromHex("73d51abb"));
  EchoMessage request;
  ASSERT_TRUE(ParsePayload(frame.payload, request).ok());
  EXPECT_EQ(request.message(), "hello");
}

TEST(FrameGoldenTest, ResponseOfBrpcJavaIsUnderstood) {
  const Frame frame = Cut(FromHex(kResponse));
  ASSERT_TRUE(frame.meta.has_response());
  EXPECT_FALSE(frame.meta.has_request());
  EXPECT_EQ(frame.meta.response().error_code(), 0);
  EXPECT_EQ(frame.meta.correlation_id(), 1);
  EXPECT_EQ(frame.attachment.ToString(), FromHex("73d51abb"));
  EchoMessage response;
  ASSERT_TRUE(ParsePayload(frame.payload, response).ok());
  EXPECT_EQ(response.message(), "hello");
}

TEST(FrameGoldenTest, TheSameRequestIsWrittenByteForByte) {
  wire::RpcMeta meta;
  meta.mutable_request()->set_service_name("example.EchoService");
  meta.mutable_request()->set_method_name("Echo");
  meta.mutable_request()->set_log_id(0);
  meta.set_compress_type(0);
  meta.set_correlation_id(1);
  const EchoMessage request = testing::Echo("hello");
  EXPECT_EQ(Encode(meta, &request, FromHex("73d51abb")), FromHex(kRequest));
}

TEST(FrameGoldenTest, TheSameResponseIsWrittenByteForByte) {
  wire::RpcMeta meta;
  meta.mutable_response()->set_error_code(0);
  meta.set_compress_type(0);
  meta.set_correlation_id(1);
  const EchoMessage response = testing::Echo("hello");
  EXPECT_EQ(Encode(meta, &response, FromHex("73d51abb")), FromHex(kResponse));
}

// The examples of docs/wire.md.
TEST(FrameGoldenTest, RequestOfADocumentedCall) {
  wire::RpcMeta meta;
  meta.mutable_request()->set_service_name("example.EchoService");
  meta.mutable_request()->set_method_name("Echo");
  meta.mutable_request()->set_timeout_ms(500);
  meta.set_correlation_id(1);
  const EchoMessage request = testing::Echo("hello");
  EXPECT_EQ(Encode(meta, &request, FromHex("73d51abb")),
            FromHex("50525043 0000002f 00000024"
                    "0a1e 0a13 6578616d706c652e4563686f53657276696365 1204 4563686f 40f403"
                    "2001 2804"
                    "0a05 68656c6c6f 73d51abb"));
}

TEST(FrameGoldenTest, ResponseOfADocumentedCall) {
  wire::RpcMeta meta;
  meta.mutable_response()->set_error_code(0);
  meta.set_correlation_id(1);
  const EchoMessage response = testing::Echo("hello");
  EXPECT_EQ(Encode(meta, &response, FromHex("73d51abb")), FromHex("50525043 00000013 00000008"
                                                                  "1202 0800 2001 2804"
                                                                  "0a05 68656c6c6f 73d51abb"));
}

TEST(FrameGoldenTest, ErrorReplyIsMetaOnly) {
  wire::RpcMeta meta;
  meta.mutable_response()->set_error_code(1002);
  meta.mutable_response()->set_error_text("no Ecko");
  meta.set_correlation_id(1);
  const std::string bytes =
      FromHex("50525043 00000010 00000010 120c 08ea07 1207 6e6f2045636b6f 2001");
  EXPECT_EQ(Encode(meta, nullptr, ""), bytes);
  const Frame frame = Cut(bytes);
  EXPECT_EQ(frame.meta.response().error_code(), 1002);
  EXPECT_EQ(frame.meta.response().error_text(), "no Ecko");
  EXPECT_TRUE(frame.payload.empty());
  EXPECT_TRUE(frame.attachment.empty());
}

TEST(FrameGoldenTest, FirstCallOfAJavaClientHasCorrelationIdZeroWrittenOut) {
  const Frame frame = Cut(FromHex("50525043 00000002 00000002 2000"));
  EXPECT_TRUE(frame.meta.has_correlation_id());
  EXPECT_EQ(frame.meta.correlation_id(), 0);
}

TEST(FrameGoldenTest, FramesThatFollowEachOtherAreCutOneByOne) {
  Buffer input(absl::StrCat(FromHex(kRequest), FromHex(kResponse), "PR"));
  Frame frame;
  EXPECT_EQ(*CutFrame(input, FrameLimits(), frame), 0u);
  EXPECT_TRUE(frame.meta.has_request());
  EXPECT_EQ(*CutFrame(input, FrameLimits(), frame), 0u);
  EXPECT_FALSE(frame.meta.has_request());
  EXPECT_TRUE(frame.meta.has_response());
  EXPECT_EQ(*CutFrame(input, FrameLimits(), frame), kFrameHeaderSize);
  EXPECT_EQ(input.ToString(), "PR");
}

}  // namespace
}  // namespace farcall
