// SPDX-License-Identifier: Apache-2.0

#include <climits>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rpc/wire/frame.h"
#include "rpc/wire/frame_testing.h"
#include "transport/buffer/block_pool.h"

namespace farcall {
namespace {

using testing::EchoMessage;
using ::testing::HasSubstr;
using testing::RequestMeta;

class FrameEncoderTest : public ::testing::Test {
 protected:
  std::unique_ptr<BlockPool> pool_ = *BlockPool::Create(BlockPoolOptions());
};

TEST_F(FrameEncoderTest, WritesExactlyHeadSizeBytes) {
  wire::RpcMeta meta = RequestMeta(1);
  const EchoMessage echo = testing::Echo("hello");
  const auto encoder = FrameEncoder::Create(meta, &echo, 0);
  ASSERT_TRUE(encoder.ok());
  EXPECT_EQ(encoder->head_size(), kFrameHeaderSize + meta.ByteSizeLong() + echo.ByteSizeLong());
  std::string out(encoder->head_size() + 8, '#');
  encoder->WriteTo(out.data());
  EXPECT_EQ(out.substr(encoder->head_size()), "########");
  EXPECT_NE(out[encoder->head_size() - 1], '#');
}

TEST_F(FrameEncoderTest, BlocksHoldTheSameBytes) {
  for (const size_t size :
       {size_t{0}, size_t{1}, size_t{8 << 10}, size_t{100'000}, size_t{5 << 20}}) {
    wire::RpcMeta meta = RequestMeta(1);
    const EchoMessage echo = testing::Echo(std::string(size, 'x'));
    const auto encoder = FrameEncoder::Create(meta, &echo, 10);
    ASSERT_TRUE(encoder.ok());
    std::string flat(encoder->head_size(), '\0');
    encoder->WriteTo(flat.data());
    Buffer out(absl::string_view("before"));
    ASSERT_TRUE(encoder->AppendTo(*pool_, out));
    EXPECT_EQ(out.size(), 6 + encoder->head_size());
    out.RemoveFront(6);
    EXPECT_TRUE(out.ToString() == flat) << size;
  }
}

TEST_F(FrameEncoderTest, SmallHeadsAreTheSameInOneGo) {
  const std::string name(PlainMeta::kMaxNames / 2, 'n');
  const PlainMeta::Request request{.service_name = name,
                                   .method_name = name,
                                   .log_id = -1,
                                   .timeout_ms = INT_MAX,
                                   .correlation_id = -1};
  const PlainMeta::Answer answer{.correlation_id = 7};
  const auto encoded = [](PlainMeta meta, const EchoMessage& echo, size_t attachment) {
    const auto encoder = FrameEncoder::Create(meta, echo, echo.ByteSizeLong(), attachment);
    std::string out(encoder->head_size(), '\0');
    encoder->WriteTo(out.data());
    return out;
  };
  for (const size_t text : {size_t{0}, size_t{1}, size_t{32}, kSmallMessage - 3}) {
    for (const size_t attachment : {0, 1, INT_MAX}) {
      const EchoMessage echo = testing::Echo(std::string(text, 'x'));
      const size_t size = echo.ByteSizeLong();
      ASSERT_LE(size, kSmallMessage);
      char out[kSmallHead];
      size_t written = WriteSmallHead(request, echo, size, attachment, out);
      EXPECT_EQ(std::string(out, written), encoded(PlainMeta(request), echo, attachment));
      written = WriteSmallHead(answer, echo, size, attachment, out);
      EXPECT_EQ(std::string(out, written), encoded(PlainMeta(answer), echo, attachment));
    }
  }
}

TEST_F(FrameEncoderTest, AttachmentSizeIsPutIntoTheMetaOnlyWhereThereIsOne) {
  wire::RpcMeta meta = RequestMeta(1);
  ASSERT_TRUE(FrameEncoder::Create(meta, nullptr, 77).ok());
  EXPECT_EQ(meta.attachment_size(), 77);
  ASSERT_TRUE(FrameEncoder::Create(meta, nullptr, 0).ok());
  EXPECT_FALSE(meta.has_attachment_size());
}

TEST_F(FrameEncoderTest, BodySizeCountsTheAttachmentThatFollows) {
  wire::RpcMeta meta;
  const auto encoder = FrameEncoder::Create(meta, nullptr, 0x01020304);
  ASSERT_TRUE(encoder.ok());
  std::string out(encoder->head_size(), '\0');
  encoder->WriteTo(out.data());
  EXPECT_EQ(out.substr(0, 12), testing::Header(0x01020304 + 5, 5));
}

TEST_F(FrameEncoderTest, RequiredFieldsThatLackAreNamed) {
  wire::RpcMeta meta = RequestMeta(1);
  const EchoMessage incomplete;
  const absl::Status status = FrameEncoder::Create(meta, &incomplete, 0).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "farcall.testing.EchoMessage lacks required fields: message");
}

TEST_F(FrameEncoderTest, AttachmentBeyondInt32IsRefused) {
  wire::RpcMeta meta = RequestMeta(1);
  EXPECT_TRUE(FrameEncoder::Create(meta, nullptr, INT_MAX).ok());
  const absl::Status status = FrameEncoder::Create(meta, nullptr, size_t{INT_MAX} + 1).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.ToString(), HasSubstr("attachment of 2147483648 bytes"));
  EXPECT_FALSE(FrameEncoder::Create(meta, nullptr, SIZE_MAX).ok());
}

// Says that it is `size` bytes, without having them.
class Sized final : public google::protobuf::MessageLite {
 public:
  explicit Sized(size_t size) : size_(size) {}
  std::string GetTypeName() const override { return "Sized"; }
  MessageLite* New(google::protobuf::Arena*) const override { return nullptr; }
  void Clear() override {}
  bool IsInitialized() const override { return true; }
  void CheckTypeAndMergeFrom(const MessageLite&) override {}
  size_t ByteSizeLong() const override { return size_; }
  int GetCachedSize() const override { return 0; }
  uint8_t* _InternalSerialize(uint8_t* to,
                              google::protobuf::io::EpsCopyOutputStream*) const override {
    return to;
  }

 private:
  size_t size_;
};

TEST_F(FrameEncoderTest, PayloadBeyondWhatProtobufCarriesIsRefused) {
  wire::RpcMeta meta = RequestMeta(1);
  const Sized largest(INT_MAX);
  EXPECT_TRUE(FrameEncoder::Create(meta, &largest, 0).ok());
  const Sized larger(size_t{INT_MAX} + 1);
  const absl::Status status = FrameEncoder::Create(meta, &larger, 0).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.ToString(), HasSubstr("message of 2147483648 bytes"));
}

TEST_F(FrameEncoderTest, BodyBeyondWhatTheHeaderCanSayIsRefused) {
  wire::RpcMeta meta;
  // 6 bytes of meta: attachment_size as a varint of 5.
  const Sized fits(size_t{UINT32_MAX} - INT_MAX - 6);
  const Sized too_large(size_t{UINT32_MAX} - INT_MAX - 5);
  ASSERT_LE(too_large.ByteSizeLong(), size_t{INT_MAX});
  EXPECT_TRUE(FrameEncoder::Create(meta, &fits, INT_MAX).ok());
  const absl::Status status = FrameEncoder::Create(meta, &too_large, INT_MAX).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.ToString(), HasSubstr("body of 4294967296 bytes"));
}

TEST_F(FrameEncoderTest, PoolAtItsLimitLeavesTheOutputAlone) {
  BlockPoolOptions options;
  options.region_bytes = size_t{2} << 20;
  options.max_bytes = size_t{6} << 20;
  auto pool = *BlockPool::Create(options);
  wire::RpcMeta meta = RequestMeta(1);
  const EchoMessage echo = testing::Echo(std::string(10 << 20, 'x'));
  const auto encoder = FrameEncoder::Create(meta, &echo, 0);
  ASSERT_TRUE(encoder.ok());
  Buffer out(absl::string_view("before"));
  EXPECT_FALSE(encoder->AppendTo(*pool, out));
  EXPECT_EQ(out.ToString(), "before");
  EXPECT_EQ(pool->stats().used_bytes, 0u);
}

}  // namespace
}  // namespace farcall
