// SPDX-License-Identifier: Apache-2.0

#include "rpc/wire/pack.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rpc/wire/checksum.h"
#include "rpc/wire/compress_testing.h"
#include "rpc/wire/frame.h"
#include "rpc/wire/frame_testing.h"

namespace farcall {
namespace {

using testing::Echo;
using testing::EchoMessage;
using testing::FromHex;
using ::testing::HasSubstr;

constexpr size_t kNoLimit = size_t{1} << 30;

class PackTest : public ::testing::Test {
 protected:
  absl::StatusOr<Buffer> PackEcho(const EchoMessage& echo, Packing packing,
                                  const Buffer& attachment = Buffer()) {
    return Pack(echo, packing, attachment, *pool_, meta_);
  }
  // What the peer makes of it.
  absl::Status UnpackHere(const Buffer& payload, const Buffer& attachment = Buffer(),
                          size_t max_size = kNoLimit) {
    return Unpack(PayloadInfo::Of(meta_), payload, attachment, max_size, *pool_, unpacked_);
  }

  std::unique_ptr<BlockPool> pool_ = *BlockPool::Create(BlockPoolOptions());
  wire::RpcMeta meta_;
  EchoMessage unpacked_;
};

TEST_F(PackTest, MessagesComeBackWhateverThePacking) {
  for (int compress = 0; compress < kCompressTypes; ++compress) {
    for (const ChecksumType checksum : {CHECKSUM_TYPE_NONE, CHECKSUM_TYPE_CRC32C}) {
      for (const size_t size : {size_t{0}, size_t{1}, size_t{1000}, size_t{3} << 20}) {
        for (const char* attachment : {"", "attached"}) {
          SCOPED_TRACE(absl::StrCat(compress, " ", checksum, " ", size, attachment));
          const EchoMessage echo = Echo(testing::Compressible(size, 1));
          const Packing packing{static_cast<CompressType>(compress), checksum};
          const Buffer attached{absl::string_view(attachment)};
          const auto payload = PackEcho(echo, packing, attached);
          ASSERT_TRUE(payload.ok()) << payload.status();
          EXPECT_EQ(meta_.compress_type(), compress);
          EXPECT_EQ(meta_.checksum_type(), checksum);
          EXPECT_EQ(meta_.checksum_with_attachment(),
                    checksum == CHECKSUM_TYPE_CRC32C && !attached.empty());
          const absl::Status status = UnpackHere(*payload, attached);
          ASSERT_TRUE(status.ok()) << status;
          EXPECT_TRUE(unpacked_.message() == echo.message());
        }
      }
    }
  }
}

TEST_F(PackTest, PlainPayloadIsTheMessageAsItIs) {
  const EchoMessage echo = Echo("hello");
  EXPECT_EQ(PackEcho(echo, Packing())->ToString(), echo.SerializeAsString());
  EXPECT_EQ(meta_.ByteSizeLong(), 0u);
  EXPECT_TRUE(Packing().plain());
  EXPECT_TRUE(PayloadInfo::Of(meta_).plain());
}

TEST_F(PackTest, FieldsOfAnEarlierUseAreCleared) {
  ASSERT_TRUE(
      PackEcho(Echo("hello"), {COMPRESS_TYPE_GZIP, CHECKSUM_TYPE_CRC32C}, Buffer("x")).ok());
  meta_.set_correlation_id(7);
  ASSERT_TRUE(PackEcho(Echo("hello"), Packing()).ok());
  wire::RpcMeta expected;
  expected.set_correlation_id(7);
  EXPECT_EQ(meta_.SerializeAsString(), expected.SerializeAsString());
}

TEST_F(PackTest, EmptyMessagesAreNotCompressed) {
  for (int compress = 0; compress < kCompressTypes; ++compress) {
    wire::RpcMeta empty, again;
    const auto payload = Pack(empty, {static_cast<CompressType>(compress), CHECKSUM_TYPE_CRC32C},
                              Buffer(), *pool_, meta_);
    ASSERT_TRUE(payload.ok());
    EXPECT_TRUE(payload->empty());
    EXPECT_FALSE(meta_.has_compress_type());
    EXPECT_TRUE(Unpack(PayloadInfo::Of(meta_), *payload, Buffer(), 0, *pool_, again).ok());
  }
}

// What brpc sends for the message {1: "hello"}: CRC32C of the payload, masked, most significant
// byte first; then of payload and attachment.
TEST_F(PackTest, ChecksumIsThatOfBrpc) {
  ASSERT_TRUE(PackEcho(Echo("hello"), {COMPRESS_TYPE_NONE, CHECKSUM_TYPE_CRC32C}).ok());
  EXPECT_EQ(meta_.checksum_value(), FromHex("61f63a7e"));
  EXPECT_FALSE(meta_.has_checksum_with_attachment());
  ASSERT_TRUE(PackEcho(Echo("hello"), {COMPRESS_TYPE_NONE, CHECKSUM_TYPE_CRC32C},
                       Buffer(FromHex("73d51abb")))
                  .ok());
  EXPECT_EQ(meta_.checksum_value(), FromHex("75809121"));
  EXPECT_TRUE(meta_.checksum_with_attachment());
}

TEST_F(PackTest, ChecksumIsOfThePayloadAsItTravels) {
  const auto payload = PackEcho(Echo("hello"), {COMPRESS_TYPE_GZIP, CHECKSUM_TYPE_CRC32C});
  ASSERT_TRUE(payload.ok());
  EXPECT_EQ(PayloadInfo::Of(meta_).checksum, MaskCrc32c(Crc32c(*payload)));
}

TEST_F(PackTest, EveryChangedByteIsFoundByTheChecksum) {
  const std::string attachment = "attached";
  for (int compress = 0; compress < kCompressTypes; ++compress) {
    const std::string payload =
        PackEcho(Echo(testing::kHello), {static_cast<CompressType>(compress), CHECKSUM_TYPE_CRC32C},
                 Buffer(attachment))
            ->ToString();
    for (size_t at = 0; at < payload.size() + attachment.size(); ++at) {
      std::string bytes = payload + attachment;
      bytes[at] = static_cast<char>(bytes[at] ^ 0x20);
      const absl::Status status =
          UnpackHere(Buffer(bytes.substr(0, payload.size())), Buffer(bytes.substr(payload.size())));
      EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << at;
      EXPECT_THAT(status.ToString(), HasSubstr("wrong CRC32C of a payload of"));
    }
  }
}

TEST_F(PackTest, AttachmentCountsOnlyWhereTheMetaSaysSo) {
  const auto payload = PackEcho(Echo("hello"), {COMPRESS_TYPE_NONE, CHECKSUM_TYPE_CRC32C});
  // As brpc before it had the field.
  EXPECT_TRUE(UnpackHere(*payload, Buffer("not covered")).ok());
  meta_.set_checksum_with_attachment(true);
  EXPECT_TRUE(UnpackHere(*payload).ok());
  const absl::Status status = UnpackHere(*payload, Buffer("covered"));
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(status.ToString(), HasSubstr("and an attachment of 7"));
}

TEST_F(PackTest, ChecksumsOfAnotherSizeAreRefused) {
  const auto payload = PackEcho(Echo("hello"), {COMPRESS_TYPE_NONE, CHECKSUM_TYPE_CRC32C});
  for (const size_t size : {0, 1, 3, 5, 100}) {
    meta_.set_checksum_value(std::string(size, 'x'));
    const absl::Status status = UnpackHere(*payload);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.ToString(), HasSubstr(absl::StrCat("checksum_value has ", size, " bytes")));
  }
  // Without a type the value means nothing: brpc sends it so.
  meta_.set_checksum_type(0);
  EXPECT_TRUE(UnpackHere(*payload).ok());
}

TEST_F(PackTest, UnknownTypesAreNamed) {
  const auto payload = PackEcho(Echo("hello"), Packing());
  const auto refusal = [&](const wire::RpcMeta& meta) {
    const absl::Status status =
        Unpack(PayloadInfo::Of(meta), *payload, Buffer(), kNoLimit, *pool_, unpacked_);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return status.ToString();
  };
  wire::RpcMeta meta;
  meta.set_compress_type(9);
  EXPECT_THAT(refusal(meta), HasSubstr("compress_type 9 is unknown"));
  meta.set_compress_type(-1);
  EXPECT_THAT(refusal(meta), HasSubstr("compress_type -1 is unknown"));
  meta.Clear();
  meta.set_checksum_type(2);
  EXPECT_THAT(refusal(meta), HasSubstr("checksum_type 2 is unknown"));
  for (const int content : {1, 2, 3, 4, -1}) {
    meta.Clear();
    meta.set_content_type(content);
    EXPECT_THAT(refusal(meta), HasSubstr(absl::StrCat("content_type ", content, " is not spoken")));
  }
}

TEST_F(PackTest, PackRefusesTypesThatDoNotExist) {
  EXPECT_EQ(PackEcho(Echo("x"), {static_cast<CompressType>(5), CHECKSUM_TYPE_NONE}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(PackEcho(Echo("x"), {COMPRESS_TYPE_NONE, static_cast<ChecksumType>(2)}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(PackTest, MissingFieldsAreNamedOnBothSides) {
  const EchoMessage incomplete;
  const absl::Status packed = PackEcho(incomplete, {COMPRESS_TYPE_ZLIB}).status();
  EXPECT_EQ(packed.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(packed.ToString(), HasSubstr("lacks required fields: message"));
  const absl::Status unpacked = UnpackHere(Buffer());
  EXPECT_THAT(unpacked.ToString(), HasSubstr("lacks required fields: message"));
}

TEST_F(PackTest, LimitIsThatOfTheMessage) {
  const EchoMessage echo = Echo(std::string(100'000, 'x'));
  for (const CompressType type : testing::kCompressing) {
    const auto payload = PackEcho(echo, {type});
    EXPECT_TRUE(UnpackHere(*payload, Buffer(), echo.ByteSizeLong()).ok());
    EXPECT_EQ(UnpackHere(*payload, Buffer(), echo.ByteSizeLong() - 1).code(),
              absl::StatusCode::kOutOfRange);
  }
}

TEST_F(PackTest, PoolAtItsLimitIsSaid) {
  const std::unique_ptr<BlockPool> small = testing::SmallPool();
  const EchoMessage echo = Echo(testing::Noise(7'000'000, 1));
  for (int compress = 0; compress < kCompressTypes; ++compress) {
    const absl::Status status =
        Pack(echo, {static_cast<CompressType>(compress)}, Buffer(), *small, meta_).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(status.ToString(), HasSubstr("pool.max_bytes"));
    EXPECT_EQ(small->stats().used_bytes, 0u);
    if (compress == COMPRESS_TYPE_NONE) continue;
    // The receiver's matter, and not for ever: unlike what is over its limit.
    const auto payload = PackEcho(echo, {static_cast<CompressType>(compress)});
    const absl::Status unpacked =
        Unpack(PayloadInfo::Of(meta_), *payload, Buffer(), kNoLimit, *small, unpacked_);
    EXPECT_EQ(unpacked.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(unpacked.ToString(), HasSubstr("pool.max_bytes"));
  }
}

TEST_F(PackTest, FramesCarryPackedPayloads) {
  const Buffer attachment("attached");
  auto payload = PackEcho(Echo("hello"), {COMPRESS_TYPE_LZ4, CHECKSUM_TYPE_CRC32C}, attachment);
  const auto encoder = FrameEncoder::Create(meta_, *payload, attachment.size());
  ASSERT_TRUE(encoder.ok()) << encoder.status();
  std::string head(encoder->head_size(), '\0');
  encoder->WriteTo(head.data());
  Buffer input(head), in_blocks;
  ASSERT_TRUE(encoder->AppendTo(*pool_, in_blocks));
  EXPECT_EQ(in_blocks.ToString(), head);
  input.Append(std::move(*payload));
  input.Append(attachment.Share());
  Frame frame;
  ASSERT_EQ(*CutFrame(input, FrameLimits(), frame), 0u);
  EXPECT_TRUE(input.empty());
  EXPECT_EQ(frame.attachment.ToString(), "attached");
  ASSERT_TRUE(Unpack(PayloadInfo::Of(frame.meta), frame.payload, frame.attachment, kNoLimit, *pool_,
                     unpacked_)
                  .ok());
  EXPECT_EQ(unpacked_.message(), "hello");
}

TEST_F(PackTest, FramesRefuseWhatTheirNumbersCannotSay) {
  wire::RpcMeta meta;
  const Buffer two_gib = testing::Zeros(size_t{1} << 31);
  const absl::Status status = FrameEncoder::Create(meta, two_gib, 0).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.ToString(), HasSubstr("message of 2147483648 bytes"));
  EXPECT_EQ(FrameEncoder::Create(meta, Buffer(), size_t{1} << 31).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace farcall
