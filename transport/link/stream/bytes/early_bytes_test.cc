// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/bytes/early_bytes.h"

#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

class EarlyBytesTest : public ::testing::Test {
 protected:
  void Add(uint64_t offset, const std::string& text) {
    EXPECT_TRUE(early_.Add(offset, Buffer(text)).ok());
  }
  std::string Take(uint64_t offset) { return early_.Take(offset).bytes.ToString(); }

  std::unique_ptr<BlockPool> pool_ = std::move(BlockPool::Create({})).value();
  EarlyBytes early_{*pool_, 4096};
};

TEST_F(EarlyBytesTest, HandsOutWhatIsDueAndNothingBefore) {
  Add(3, "def");
  EXPECT_EQ(early_.size(), 3u);
  EXPECT_EQ(early_.end(), 6u);
  EXPECT_EQ(Take(2), "");
  EXPECT_EQ(Take(3), "def");
  EXPECT_TRUE(early_.empty());
  EXPECT_EQ(early_.end(), 0u);
}

TEST_F(EarlyBytesTest, PiecesThatTouchAreOneRun) {
  Add(6, "gh");
  Add(2, "cd");
  Add(4, "ef");
  EXPECT_EQ(Take(2), "cdefgh");
  EXPECT_TRUE(early_.empty());
}

TEST_F(EarlyBytesTest, EachOffsetIsKeptOnce) {
  Add(4, "ef");
  Add(8, "ij");
  Add(3, "defghijk");
  EXPECT_EQ(early_.size(), 8u);
  EXPECT_EQ(early_.dropped(), 4u);
  Add(5, "fg");
  EXPECT_EQ(early_.dropped(), 6u);
  EXPECT_EQ(Take(3), "defghijk");
}

TEST_F(EarlyBytesTest, WhatIsInFrontOfTheOffsetIsToldWithItsOwn) {
  Add(3, "def");
  const EarlyBytes::Run run = early_.Take(5);
  EXPECT_EQ(run.offset, 3u);
  EXPECT_EQ(run.bytes.ToString(), "def");
}

TEST_F(EarlyBytesTest, GapsAreBounded) {
  const size_t most = EarlyBytes::MostRuns(4096);
  for (size_t i = 0; i < most; ++i) Add(10 + 2 * i, "x");
  EXPECT_EQ(early_.Add(11 + 2 * most, Buffer("x")).code(), absl::StatusCode::kResourceExhausted);
  // What fills a gap is none.
  Add(11, "y");
}

TEST_F(EarlyBytesTest, ManySmallPiecesKeepLittleMoreThanTheirBytes) {
  for (uint64_t i = 0; i < 1000; ++i) {
    BlockRef block = pool_->Allocate(BlockPool::kMedium);
    ASSERT_TRUE(block);
    Buffer piece;
    piece.Append(block, 0, 10);
    ASSERT_TRUE(early_.Add(5 + 20 * i, std::move(piece)).ok());
  }
  EXPECT_LT(pool_->stats().used_bytes, (PieceJoiner::kPieces + 4) * BlockPool::kMedium);
}

TEST_F(EarlyBytesTest, AnyOrderComesOutInOrder) {
  TestRandom random(7);
  for (int round = 0; round < 500; ++round) {
    EarlyBytes early(*pool_, 4096);
    std::string text;
    for (int i = 0; i < 60; ++i) text.push_back(static_cast<char>('A' + i));
    std::string out;
    for (int step = 0; out.size() < text.size() && step < 10000; ++step) {
      const size_t from = random.Below(text.size());
      const size_t size = 1 + random.Below(text.size() - from);
      if (from > out.size()) {
        ASSERT_TRUE(early.Add(from, Buffer(text.substr(from, size))).ok());
      } else if (from + size > out.size()) {
        out = text.substr(0, from + size);
      }
      for (auto run = early.Take(out.size()); !run.bytes.empty(); run = early.Take(out.size())) {
        const std::string bytes = run.bytes.ToString();
        ASSERT_EQ(bytes, text.substr(run.offset, bytes.size()));
        if (run.offset + bytes.size() > out.size()) {
          out += bytes.substr(out.size() - run.offset);
        }
      }
      ASSERT_LE(early.size(), text.size() - out.size());
    }
    EXPECT_EQ(out, text);
  }
}

}  // namespace
}  // namespace farcall
