// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/bytes/send_side.h"

#include <algorithm>
#include <string>
#include <vector>

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

TEST(SendSideTest, WhatIsAloneInFlightIsSeenAndNotShared) {
  SendSide side(6);
  EXPECT_EQ(side.NextAlone(100), nullptr) << "nothing is queued";
  side.Write(Buffer("abc"));
  EXPECT_EQ(side.NextAlone(2), nullptr) << "more than may go";
  ASSERT_NE(side.NextAlone(3), nullptr);
  EXPECT_EQ(side.highest(), 3u);
  side.Write(Buffer("d"));
  EXPECT_EQ(side.NextAlone(100), nullptr) << "others are in flight";
  EXPECT_EQ(side.Next(100).ToString(), "d");
  EXPECT_TRUE(side.Acknowledge(4));
  side.Write(Buffer("efghijk"));
  EXPECT_EQ(side.NextAlone(100), nullptr) << "more than the window";
  EXPECT_EQ(side.in_flight(), 0u);
  EXPECT_EQ(side.Next(100).ToString(), "efghij");
  side.Rewind();
  EXPECT_TRUE(side.Acknowledge(6));
  EXPECT_EQ(side.NextAlone(100)->ToString(), "ghijk");
  EXPECT_EQ(side.resent(), 4u);
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

TEST(SendSideTest, SendsPiecesAgainBeforeWhatWasNeverSent) {
  SendSide side(100);
  side.Write(Buffer("abcdefghij"));
  EXPECT_EQ(side.Next(8).ToString(), "abcdefgh");
  side.SendAgain({5, 7});
  side.SendAgain({1, 3});
  side.SendAgain({2, 4});
  EXPECT_EQ(side.waiting(), 7u);
  EXPECT_EQ(side.next(), 1u);
  EXPECT_EQ(side.Next(2).ToString(), "bc");
  EXPECT_EQ(side.Next(100).ToString(), "d");
  EXPECT_EQ(side.next(), 5u);
  EXPECT_EQ(side.Next(100).ToString(), "fg");
  EXPECT_EQ(side.next(), 8u);
  EXPECT_EQ(side.Next(100).ToString(), "ij");
  EXPECT_EQ(side.resent(), 5u);
}

TEST(SendSideTest, WhatHasComeMeanwhileIsNotSentAgain) {
  SendSide side(100);
  side.Write(Buffer("abcdefgh"));
  side.Next(100);
  side.SendAgain({0, 4});
  side.SendAgain({6, 8});
  EXPECT_TRUE(side.Acknowledge(2));
  EXPECT_EQ(side.next(), 2u);
  side.Spare(7);
  EXPECT_EQ(side.next(), 7u);
  side.SendAgain({1, 7});
  EXPECT_EQ(side.Next(100).ToString(), "h");
  EXPECT_EQ(side.waiting(), 0u);
}

TEST(SendSideTest, TellsOfACrumbOnlyWhereMoreRoomIsToCome) {
  SendSide side(80);
  side.Write(Buffer(std::string(75, 'x')));
  EXPECT_FALSE(side.crumb(10));
  side.Next(100);
  side.Write(Buffer("abcd"));
  EXPECT_FALSE(side.crumb(10)) << "there is room for all of it";
  side.Write(Buffer("efgh"));
  EXPECT_TRUE(side.crumb(10));
  EXPECT_FALSE(side.crumb(11)) << "the window is small";
  side.SendAgain({0, 2});
  EXPECT_FALSE(side.crumb(10)) << "what was lost does not wait";
}

// Sizes of what Next gives, one after the other.
std::vector<size_t> Cuts(SendSide& side, size_t most) {
  std::vector<size_t> cuts;
  while (side.queued() > 0) cuts.push_back(side.Next(most).size());
  return cuts;
}

// What fetches a slice by RDMA READ, or sends it from where it lies, wants no crumbs of it.
TEST(SendSideTest, CutsWhereASliceEndsRatherThanACrumbBehind) {
  const auto slices = [](const std::vector<size_t>& sizes) {
    SendSide side(1 << 20);
    Buffer all;
    for (const size_t size : sizes) all.Append(Buffer(std::string(size, 'x')));
    EXPECT_EQ(all.slices().size(), sizes.size());
    side.Write(std::move(all));
    return Cuts(side, 400);
  };
  using Sizes = std::vector<size_t>;
  EXPECT_EQ(slices({400}), Sizes({400}));
  EXPECT_EQ(slices({1000}), Sizes({400, 400, 200}));
  // Each part of a slice that is cut has a quarter of the most, at least.
  EXPECT_EQ(slices({450}), Sizes({350, 100}));
  EXPECT_EQ(slices({410, 410}), Sizes({310, 400, 110}));
  // A slice that is too small for that, or of which too little would come, stays whole.
  EXPECT_EQ(slices({300, 150}), Sizes({300, 150}));
  EXPECT_EQ(slices({350, 250}), Sizes({350, 250}));
}

TEST(SendSideTest, WaitsForRoomRatherThanSendACrumb) {
  SendSide side(2000);
  side.Write(Buffer(std::string(1950, 'x')));
  while (!side.Next(400).empty()) {
  }
  EXPECT_EQ(side.in_flight(), 1950u);
  side.Write(Buffer(std::string(1000, 'y')));
  EXPECT_TRUE(side.Next(400).empty()) << "50 bytes of the window are left";
  EXPECT_TRUE(side.Acknowledge(50));
  EXPECT_EQ(side.Next(400).size(), 100u);
  EXPECT_TRUE(side.Acknowledge(1950));
  EXPECT_EQ(side.Next(400).size(), 400u);
}

TEST(SendSideTest, ASmallWindowIsFilled) {
  SendSide side(1000);
  side.Write(Buffer(std::string(2000, 'x')));
  size_t sent = 0;
  for (Buffer next = side.Next(400); !next.empty(); next = side.Next(400)) sent += next.size();
  EXPECT_EQ(sent, 1000u);
}

// Against a string and three numbers.
TEST(SendSideTest, IsAStringWithThreeOffsets) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    TestRandom random(seed);
    const size_t window = 1 + random.Below(60);
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
          const std::string next = side.Next(most).ToString();
          ASSERT_EQ(next, expected.substr(0, next.size())) << "seed " << seed;
          // Only what was cut may be less: for its size by no more than half.
          const bool all_is_sent = position + expected.size() == all.size();
          const size_t least = expected.size() == most ? most / 2
                               : all_is_sent           ? expected.size()
                                                       : 0;
          ASSERT_GE(next.size(), least) << "seed " << seed;
          ASSERT_TRUE(!next.empty() || expected.empty() || position > acknowledged)
              << "seed " << seed;
          position += next.size();
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
