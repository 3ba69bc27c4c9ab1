// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/frames/frame_parts.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "transport/buffer/block_pool.h"
#include "transport/testing/seeds_here.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

class FramePartsTest : public ::testing::Test {
 protected:
  std::string Encoded(LinkFrame frame) { return writer_.Encode(std::move(frame)).ToString(); }

  std::unique_ptr<BlockPool> pool_ = *BlockPool::Create({});
  LinkFrameWriter writer_{*pool_};
  FrameParts parts_;
  LinkFrame frame_;
};

TEST_F(FramePartsTest, WhatComesOfADataFrameIsCutAtOnce) {
  const std::string bytes = Encoded({.type = LinkFrameType::kData,
                                     .offset = 100,
                                     .acknowledged = 7,
                                     .payload = Buffer("0123456789")});
  Buffer input(bytes.substr(0, kLinkHeaderSize - 1));
  EXPECT_EQ(parts_.Cut(input, frame_).value(), kLinkHeaderSize);
  EXPECT_EQ(parts_.left(), 0u);

  input.Append(bytes.substr(kLinkHeaderSize - 1, 1));
  EXPECT_EQ(parts_.Cut(input, frame_).value(), 10u);
  EXPECT_TRUE(input.empty()) << "the header was taken";
  EXPECT_EQ(parts_.left(), 10u);
  EXPECT_EQ(parts_.offset(), 100u);

  input.Append(absl::string_view("012"));
  EXPECT_EQ(parts_.Cut(input, frame_).value(), 0u);
  EXPECT_EQ(frame_.type, LinkFrameType::kData);
  EXPECT_EQ(frame_.offset, 100u);
  EXPECT_EQ(frame_.acknowledged, 7u);
  EXPECT_EQ(frame_.payload.ToString(), "012");
  EXPECT_EQ(parts_.left(), 7u);
  EXPECT_EQ(parts_.offset(), 103u);

  input.Append(absl::string_view("3456789"));
  input.Append(Encoded({.acknowledged = 9}));
  EXPECT_EQ(parts_.Cut(input, frame_).value(), 0u);
  EXPECT_EQ(frame_.offset, 103u);
  EXPECT_EQ(frame_.payload.ToString(), "3456789");
  EXPECT_EQ(parts_.left(), 0u);
  EXPECT_EQ(parts_.Cut(input, frame_).value(), 0u);
  EXPECT_EQ(frame_.type, LinkFrameType::kAck);
  EXPECT_EQ(frame_.acknowledged, 9u);
}

TEST_F(FramePartsTest, OtherFramesAreCutWhole) {
  const std::string bytes =
      Encoded({.type = LinkFrameType::kUpgradeAsk, .payload = Buffer("hello")});
  Buffer input(bytes.substr(0, bytes.size() - 1));
  EXPECT_EQ(parts_.Cut(input, frame_).value(), bytes.size());
  EXPECT_EQ(input.size(), bytes.size() - 1);
  EXPECT_EQ(parts_.left(), 0u);
}

TEST_F(FramePartsTest, WhatIsNoFrameIsAnError) {
  Buffer input(std::string(kLinkHeaderSize, '\xff'));
  EXPECT_FALSE(parts_.Cut(input, frame_).ok());
}

// However the bytes come in: all frames say what they did.
TEST_F(FramePartsTest, ThePartsAreTheFrames) {
  for (uint64_t seed = 0; seed < SeedsHere(200); ++seed) {
    SCOPED_TRACE(seed);
    TestRandom random(seed);
    std::string wire;
    std::string stream;
    int others = 0;
    for (int i = 0; i < 30; ++i) {
      if (random.Below(3) == 0) {
        wire += Encoded({.type = LinkFrameType::kPing, .number = 5});
        ++others;
        continue;
      }
      const std::string some(1 + random.Below(300), static_cast<char>(random.Below(256)));
      wire += Encoded({.type = LinkFrameType::kData,
                       .offset = stream.size(),
                       .acknowledged = 1,
                       .payload = Buffer(some)});
      stream += some;
    }
    FrameParts parts;
    LinkFrame frame;
    Buffer input;
    std::string came;
    for (size_t at = 0; at < wire.size();) {
      const size_t some = std::min<size_t>(1 + random.Below(200), wire.size() - at);
      input.Append(wire.substr(at, some));
      at += some;
      for (;;) {
        const auto needed = parts.Cut(input, frame);
        ASSERT_TRUE(needed.ok());
        if (*needed > 0) break;
        if (frame.type != LinkFrameType::kData) {
          --others;
          continue;
        }
        ASSERT_EQ(frame.offset, came.size());
        ASSERT_FALSE(frame.payload.empty());
        came += frame.payload.ToString();
        if (parts.left() > 0) {
          ASSERT_EQ(parts.offset(), came.size());
        }
      }
    }
    EXPECT_TRUE(came == stream);
    EXPECT_EQ(others, 0);
    EXPECT_TRUE(input.empty());
  }
}

}  // namespace
}  // namespace farcall
