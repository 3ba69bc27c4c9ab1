// SPDX-License-Identifier: Apache-2.0

#include "transport/link/send_side.h"

#include <algorithm>
#include <string>

#include "gtest/gtest.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

TEST(SendSideTest, KeepsWhatIsNotAcknowledged) {
  SendSide side(100);
  side.Write(Buffer("abcdef"));
  EXPECT_EQ(side.Next(4).ToString(), "abcd");
  EXPECT_EQ(side.in_flight(), 4u);
  EXPECT_TRUE(side.Acknowledge(3));
  EXPECT_EQ(side.in_flight(), 1u);
  EXPECT_TRUE(side.Acknowledge(2));  // late
  EXPECT_EQ(side.acknowledged(), 3u);
  EXPECT_FALSE(side.Acknowledge(5));
}

TEST(SendSideTest, SharesItsBlocks) {
  SendSide side(100);
  Buffer data("abc");
  const char* const where = data.slices().front().view().data();
  side.Write(std::move(data));
  EXPECT_EQ(side.Next(100).slices().front().view().data(), where);
  side.Rewind();
  EXPECT_EQ(side.Next(100).slices().front().view().data(), where);
  EXPECT_EQ(side.resent(), 3u);
}

TEST(SendSideTest, EndsAtWhatWasSentOnce) {
  SendSide side(4);
  side.Write(Buffer("abcdef"));
  side.Next(100);
  side.Rewind();
  side.Next(2);
  side.DropUnsent();
  EXPECT_EQ(side.end(), 4u);
  EXPECT_EQ(side.Next(100).ToString(), "cd");
}

// Against a string and three numbers.
TEST(SendSideTest, IsAStringWithThreeOffsets) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    TestRandom random(seed);
    const size_t window = 1 + random.Below(20);
    SendSide side(window);
    std::string all;
    uint64_t acknowledged = 0;
    uint64_t position = 0;
    uint64_t highest = 0;
    for (int step = 0; step < 100; ++step) {
      switch (random.Below(5)) {
        case 0: {
          const std::string text(random.Size(9), static_cast<char>('a' + random.Below(26)));
          all += text;
          side.Write(Buffer(text));
          break;
        }
        case 1: {
          const size_t most = 1 + random.Below(10);
          const std::string expected =
              all.substr(position, std::min<uint64_t>(most, acknowledged + window - position));
          ASSERT_EQ(side.Next(most).ToString(), expected) << "seed " << seed;
          position += expected.size();
          highest = std::max(highest, position);
          break;
        }
        case 2: {
          const uint64_t offset = random.Below(highest + 2);
          ASSERT_EQ(side.Acknowledge(offset), offset <= highest) << "seed " << seed;
          if (offset <= highest) acknowledged = std::max(acknowledged, offset);
          position = std::max(position, acknowledged);
          break;
        }
        case 3:
          side.Rewind();
          position = acknowledged;
          break;
        case 4: {
          const uint64_t offset = random.Below(highest + 1);
          side.Raise(offset);
          position = std::max(position, offset);
          break;
        }
      }
      ASSERT_EQ(side.acknowledged(), acknowledged) << "seed " << seed;
      ASSERT_EQ(side.position(), position) << "seed " << seed;
      ASSERT_EQ(side.highest(), highest) << "seed " << seed;
      ASSERT_EQ(side.end(), all.size()) << "seed " << seed;
      ASSERT_EQ(side.queued(), all.size() - position) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace farcall
