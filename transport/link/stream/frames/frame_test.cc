// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/frames/frame.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "transport/buffer/block_pool.h"
#include "transport/link/stream/frames/frame_testing.h"

namespace farcall {
namespace {

class LinkFrameTest : public ::testing::Test {
 protected:
  std::string Bytes(LinkFrame frame) { return writer_.Encode(std::move(frame)).ToString(); }
  static std::string Hex(absl::string_view text) {
    return absl::HexStringToBytes(absl::StrReplaceAll(text, {{" ", ""}}));
  }
  static absl::Status Cut(absl::string_view bytes) {
    Buffer input(bytes);
    LinkFrame frame;
    return CutLinkFrame(input, frame).status();
  }

  std::unique_ptr<BlockPool> pool_ = std::move(BlockPool::Create({})).value();
  LinkFrameWriter writer_{*pool_};
};

// These bytes are a promise to every peer: they never change.
TEST_F(LinkFrameTest, TheBytesOfEveryType) {
  const struct {
    LinkFrame frame;
    const char* hex;
  } kCases[] = {
      {{.type = LinkFrameType::kData,
        .offset = 0x0102030405060708,
        .acknowledged = 0x1112131415161718,
        .payload = Buffer("hi")},
       "01 00 0000 00000002 0102030405060708 1112131415161718 6869"},
      {{.type = LinkFrameType::kAck, .acknowledged = 258},
       "02 00 0000 00000000 0000000000000000 0000000000000102"},
      {{.type = LinkFrameType::kUpgradeAsk, .acknowledged = 1, .payload = Buffer("ask")},
       "03 00 0000 00000003 0000000000000000 0000000000000001 61736b"},
      {{.type = LinkFrameType::kUpgradeOffer, .acknowledged = 1, .payload = Buffer("o")},
       "04 00 0000 00000001 0000000000000000 0000000000000001 6f"},
      {{.type = LinkFrameType::kUpgradeDecline, .acknowledged = 1},
       "05 00 0000 00000000 0000000000000000 0000000000000001"},
      {{.type = LinkFrameType::kResume, .offset = 7, .acknowledged = 6, .number = 0xfffffffe},
       "06 00 0000 00000008 0000000000000007 0000000000000006 00000000fffffffe"},
      {{.type = LinkFrameType::kPing, .acknowledged = 6, .number = 9},
       "07 00 0000 00000008 0000000000000000 0000000000000006 0000000000000009"},
      {{.type = LinkFrameType::kPong, .offset = 7, .acknowledged = 6, .number = 9},
       "08 00 0000 00000008 0000000000000007 0000000000000006 0000000000000009"},
      {{.type = LinkFrameType::kBye, .offset = 7, .acknowledged = 6},
       "09 00 0000 00000000 0000000000000007 0000000000000006"},
      {{.type = LinkFrameType::kRailAck,
        .offset = 7,
        .acknowledged = 6,
        .number = 3,
        .arrival = 0xfedcba98},
       "0b 00 0000 00000008 0000000000000007 0000000000000006 fedcba9800000003"},
  };
  for (const auto& one : kCases) {
    const std::string bytes = Hex(one.hex);
    EXPECT_EQ(absl::BytesToHexString(Bytes(testing::Copy(one.frame))),
              absl::BytesToHexString(bytes));
    for (const size_t piece : {size_t{1}, size_t{5}, bytes.size()}) {
      Buffer input = testing::LinkBytesInPieces(bytes, piece);
      LinkFrame frame;
      const auto needed = CutLinkFrame(input, frame);
      ASSERT_TRUE(needed.ok()) << needed.status();
      EXPECT_EQ(*needed, 0u);
      EXPECT_EQ(testing::LinkFrameText(frame), testing::LinkFrameText(one.frame));
      EXPECT_TRUE(input.empty());
    }
  }
}

TEST_F(LinkFrameTest, APayloadIsNeitherCopiedOnTheWayOutNorOnTheWayIn) {
  Buffer payload("some bytes of a stream");
  const char* const where = payload.slices().front().view().data();
  Buffer bytes =
      writer_.Encode({.type = LinkFrameType::kData, .offset = 3, .payload = std::move(payload)});
  ASSERT_EQ(bytes.slices().size(), 2u);
  EXPECT_EQ(bytes.slices().back().view().data(), where);

  LinkFrame frame;
  ASSERT_EQ(CutLinkFrame(bytes, frame).value(), 0u);
  EXPECT_EQ(frame.payload.slices().front().view().data(), where);
}

TEST_F(LinkFrameTest, HeadersStandCloseTogetherInABlock) {
  std::vector<Buffer> kept;
  for (int i = 0; i < 3; ++i) kept.push_back(writer_.Encode({.type = LinkFrameType::kAck}));
  const char* const first = kept[0].slices().front().view().data();
  EXPECT_EQ(kept[2].slices().front().view().data(), first + 2 * kLinkHeaderSize);
}

TEST_F(LinkFrameTest, AnExhaustedPoolStopsNoFrame) {
  BlockPoolOptions options;
  options.region_bytes = size_t{2} << 20;
  options.max_bytes = 3 * options.region_bytes;
  const auto pool = BlockPool::Create(options);
  ASSERT_TRUE(pool.ok());
  std::vector<BlockRef> all;
  for (const uint32_t size : {BlockPool::kLarge, BlockPool::kMedium, BlockPool::kSmall}) {
    while (BlockRef block = (*pool)->Allocate(size)) all.push_back(std::move(block));
  }
  LinkFrameWriter writer(**pool);
  EXPECT_EQ(writer.Encode({.type = LinkFrameType::kAck}).size(), kLinkHeaderSize);
}

TEST_F(LinkFrameTest, SaysHowManyBytesItNeeds) {
  const std::string bytes =
      Bytes({.type = LinkFrameType::kData, .offset = 0, .payload = Buffer("twelve bytes")}) +
      Bytes({.type = LinkFrameType::kAck});
  for (size_t size = 0; size < kLinkHeaderSize + 12; ++size) {
    Buffer input(absl::string_view(bytes).substr(0, size));
    LinkFrame frame;
    frame.number = 77;
    const auto needed = CutLinkFrame(input, frame);
    ASSERT_TRUE(needed.ok());
    EXPECT_EQ(*needed, size < kLinkHeaderSize ? kLinkHeaderSize : kLinkHeaderSize + 12);
    EXPECT_EQ(input.size(), size);
    EXPECT_EQ(frame.number, 77u);
  }
  Buffer input(bytes);
  LinkFrame frame;
  EXPECT_EQ(CutLinkFrame(input, frame).value(), 0u);
  EXPECT_EQ(input.size(), kLinkHeaderSize);
}

TEST_F(LinkFrameTest, RefusesWhatItDoesNotKnowAndNamesIt) {
  const struct {
    const char* hex;
    absl::StatusCode code;
    const char* says;
  } kCases[] = {
      {"00 00 0000 00000000 0000000000000000 0000000000000000", absl::StatusCode::kInvalidArgument,
       "type is 0"},
      {"0c 00 0000 00000000 0000000000000000 0000000000000000", absl::StatusCode::kInvalidArgument,
       "type is 12"},
      {"02 80 0000 00000000 0000000000000000 0000000000000000", absl::StatusCode::kInvalidArgument,
       "ACK with the flags 0x800000"},
      {"02 00 0001 00000000 0000000000000000 0000000000000000", absl::StatusCode::kInvalidArgument,
       "ACK with the flags 0x000001"},
      {"02 00 0000 00000001 0000000000000000 0000000000000000", absl::StatusCode::kInvalidArgument,
       "ACK with a payload of 1 bytes"},
      {"02 00 0000 00000000 0000000000000001 0000000000000000", absl::StatusCode::kInvalidArgument,
       "ACK with the offset 1"},
      {"01 00 0000 00000000 0000000000000000 0000000000000000", absl::StatusCode::kInvalidArgument,
       "DATA with a payload of 0 bytes"},
      {"01 00 0000 00400001 0000000000000000 0000000000000000",
       absl::StatusCode::kResourceExhausted, "DATA with a payload of 4194305 bytes"},
      {"01 00 0000 00000001 ffffffffffffffff 0000000000000000", absl::StatusCode::kInvalidArgument,
       "offset 18446744073709551615"},
      {"03 00 0000 00001001 0000000000000000 0000000000000000",
       absl::StatusCode::kResourceExhausted, "UPGRADE_ASK with a payload of 4097 bytes"},
      {"06 00 0000 00000007 0000000000000000 0000000000000000", absl::StatusCode::kInvalidArgument,
       "RESUME with a payload of 7 bytes"},
      {"06 00 0000 00000008 0000000000000000 0000000000000000 0000000000000000",
       absl::StatusCode::kInvalidArgument, "RESUME of generation 0"},
      {"06 00 0000 00000008 0000000000000000 0000000000000000 0000000100000000",
       absl::StatusCode::kInvalidArgument, "RESUME of generation 4294967296"},
      {"07 00 0000 00000008 0000000000000001 0000000000000000 0000000000000001",
       absl::StatusCode::kInvalidArgument, "PING with the offset 1"},
      {"0b 00 0000 00000008 0000000000000001 0000000000000000 0000000000000000",
       absl::StatusCode::kInvalidArgument, "RAIL_ACK of generation 0"},
      {"09 00 0000 00000001 0000000000000000 0000000000000000 00",
       absl::StatusCode::kInvalidArgument, "BYE with a payload of 1 bytes"},
  };
  for (const auto& one : kCases) {
    const absl::Status status = Cut(Hex(one.hex));
    EXPECT_EQ(status.code(), one.code) << status;
    EXPECT_NE(status.message().find(one.says), absl::string_view::npos) << status;
  }
}

TEST_F(LinkFrameTest, TheLargestPayloadsPass) {
  EXPECT_TRUE(
      Cut(Bytes({.type = LinkFrameType::kData, .payload = Buffer(std::string(kMaxLinkData, 'x'))}))
          .ok());
  EXPECT_TRUE(Cut(Bytes({.type = LinkFrameType::kUpgradeOffer,
                         .payload = Buffer(std::string(kMaxLinkControl, 'x'))}))
                  .ok());
}

TEST_F(LinkFrameTest, EveryTypeHasAName) {
  for (uint8_t type = 1; type <= 9; ++type) {
    EXPECT_NE(Name(static_cast<LinkFrameType>(type)), "unknown");
  }
}

}  // namespace
}  // namespace farcall
