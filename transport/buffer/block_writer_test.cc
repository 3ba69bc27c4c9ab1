// SPDX-License-Identifier: Apache-2.0

#include "transport/buffer/block_writer.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "transport/base/check.h"
#include "transport/buffer/block_size.h"

namespace farcall {
namespace {

constexpr size_t kRegion = size_t{2} << 20;

std::string Text(size_t bytes) {
  std::string text(bytes, ' ');
  for (size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(i * 37 % 251);
  return text;
}

class BlockWriterTest : public testing::Test {
 protected:
  static std::unique_ptr<BlockPool> NewPool() {
    auto pool = BlockPool::Create({.region_bytes = kRegion, .max_bytes = 3 * kRegion});
    Check(pool.ok(), "the options are valid");
    return *std::move(pool);
  }

  std::vector<BlockRef> TakeAll(size_t bytes) {
    std::vector<BlockRef> blocks;
    while (BlockRef block = pool_->Allocate(bytes)) blocks.push_back(std::move(block));
    return blocks;
  }

  const std::unique_ptr<BlockPool> pool_ = NewPool();
  BlockWriter writer_{*pool_};
};

TEST_F(BlockWriterTest, SmallWritesOfATurnAreOneSlice) {
  Buffer out;
  std::string all;
  for (int i = 0; i < 100; ++i) {
    const std::string frame = Text(static_cast<size_t>(i % 70));
    ASSERT_TRUE(writer_.Append(frame, out));
    all += frame;
  }
  EXPECT_EQ(out.ToString(), all);
  EXPECT_EQ(out.slices().size(), 1u);
  EXPECT_EQ(pool_->stats().used_bytes, BlockPool::kSmall);
}

TEST_F(BlockWriterTest, WhatIsReservedLiesInOnePiece) {
  Buffer out;
  ASSERT_TRUE(writer_.Append(Text(BlockPool::kSmall - 10), out));
  ASSERT_TRUE(writer_.Reserve(10));
  ASSERT_TRUE(writer_.Append(Text(10), out));
  EXPECT_EQ(out.slices().size(), 1u) << "there was room";
  ASSERT_TRUE(writer_.Append(Text(BlockPool::kSmall - 10), out));
  ASSERT_TRUE(writer_.Reserve(11));
  Buffer reserved;
  ASSERT_TRUE(writer_.Append(Text(11), reserved));
  EXPECT_EQ(reserved.slices().size(), 1u);
  EXPECT_EQ(reserved.ToString(), Text(11));
}

TEST_F(BlockWriterTest, WithoutBlocksNothingIsReserved) {
  const std::vector<BlockRef> all = TakeAll(BlockPool::kSmall);
  EXPECT_FALSE(writer_.Reserve(1));
}

TEST_F(BlockWriterTest, FillsABlockToItsEndBeforeTheNext) {
  Buffer out;
  ASSERT_TRUE(writer_.Append(Text(5000), out));
  ASSERT_TRUE(writer_.Append(Text(5000), out));
  EXPECT_EQ(out.ToString(), Text(5000) + Text(5000));
  ASSERT_EQ(out.slices().size(), 2u);
  EXPECT_EQ(out.slices()[0].length, BlockPool::kSmall);
  ASSERT_TRUE(writer_.Append("x", out));
  EXPECT_EQ(out.slices().size(), 2u);
}

TEST_F(BlockWriterTest, WritesToSeveralBuffersStayApart) {
  Buffer one;
  Buffer two;
  ASSERT_TRUE(writer_.Append("one", one));
  ASSERT_TRUE(writer_.Append("two", two));
  ASSERT_TRUE(writer_.Append("more", one));
  EXPECT_EQ(one.ToString(), "onemore");
  EXPECT_EQ(two.ToString(), "two");
}

TEST_F(BlockWriterTest, WhatWasWrittenNeverChanges) {
  Buffer first;
  ASSERT_TRUE(writer_.Append("first", first));
  const Buffer kept = first.Share();
  first.Clear();
  Buffer second;
  ASSERT_TRUE(writer_.Append("second", second));
  EXPECT_EQ(kept.ToString(), "first");
  EXPECT_EQ(second.ToString(), "second");
}

TEST_F(BlockWriterTest, WritesASmallBlockAgainOnceAllOfItHasLeft) {
  const char* start = nullptr;
  for (int turn = 0; turn < 10; ++turn) {
    Buffer out;
    ASSERT_TRUE(writer_.Append(Text(3000), out));
    if (start == nullptr) start = out.slices()[0].view().data();
    EXPECT_EQ(out.slices()[0].view().data(), start);
  }
  EXPECT_EQ(pool_->stats().allocations, 1u);
}

TEST_F(BlockWriterTest, WhatItLeavesKeepsItsBytesAndNoMore) {
  writer_.Leave();
  Buffer out;
  ASSERT_TRUE(writer_.Append("first", out));
  writer_.Leave();
  Buffer next;
  ASSERT_TRUE(writer_.Append("next", next));
  EXPECT_EQ(out.ToString(), "first");
  EXPECT_EQ(pool_->stats().used_bytes, 2 * BlockPool::kSmall);
  writer_.Leave();
  out.Clear();
  EXPECT_EQ(next.ToString(), "next");
  next.Clear();
  EXPECT_EQ(pool_->stats().used_bytes, 0u);
}

TEST_F(BlockWriterTest, ALargeBlockGoesHomeOnceAllOfItHasLeft) {
  Buffer out;
  ASSERT_TRUE(writer_.Append(Text(3 << 20), out));
  out.Clear();
  ASSERT_TRUE(writer_.Append("x", out));
  EXPECT_EQ(pool_->stats().used_bytes, BlockPool::kSmall);
}

TEST_F(BlockWriterTest, LargeWritesUseLargerBlocks) {
  Buffer out;
  ASSERT_TRUE(writer_.Append(Text(20'000), out));
  EXPECT_EQ(out.slices()[0].block->capacity, BlockPool::kMedium);
  Buffer large;
  ASSERT_TRUE(writer_.Append(Text(size_t{2} << 20), large));
  EXPECT_EQ(large.ToString(), Text(size_t{2} << 20));
  EXPECT_EQ(large.slices()[1].block->capacity, BlockPool::kLarge);
}

TEST_F(BlockWriterTest, NoBytesNeedNoBlock) {
  Buffer out;
  EXPECT_TRUE(writer_.Append("", out));
  EXPECT_TRUE(out.empty());
  EXPECT_EQ(pool_->stats().allocations, 0u);
}

TEST_F(BlockWriterTest, FailsAtThePoolsLimitAndChangesNothing) {
  Buffer out;
  ASSERT_TRUE(writer_.Append("start ", out));
  std::vector<BlockRef> small = TakeAll(BlockPool::kSmall);
  std::vector<BlockRef> medium = TakeAll(BlockPool::kMedium);
  const std::vector<BlockRef> large = TakeAll(BlockPool::kLarge);
  EXPECT_FALSE(writer_.Append(Text(9000), out));
  EXPECT_EQ(out.ToString(), "start ");
  // What fits into the block at hand still goes.
  ASSERT_TRUE(writer_.Append("middle ", out));
  // Half of what is needed is not enough either, and goes back.
  small.pop_back();
  EXPECT_FALSE(writer_.Append(Text(30'000), out));
  EXPECT_EQ(out.ToString(), "start middle ");
  EXPECT_TRUE(pool_->Allocate(1));
  medium.pop_back();
  ASSERT_TRUE(writer_.Append(Text(30'000), out));
  EXPECT_EQ(out.ToString(), "start middle " + Text(30'000));
}

TEST_F(BlockWriterTest, TakesSmallerBlocksWhereThereAreNoLargerOnes) {
  const std::vector<BlockRef> large = TakeAll(BlockPool::kLarge);
  const std::vector<BlockRef> medium = TakeAll(BlockPool::kMedium);
  Buffer out;
  ASSERT_TRUE(writer_.Append(Text(1'500'000), out));
  EXPECT_EQ(out.ToString(), Text(1'500'000));
  EXPECT_EQ(out.slices()[0].block->capacity, BlockPool::kSmall);
}

TEST(BlockSizeTest, LargeBlocksAreAtLeastHalfFilled) {
  EXPECT_EQ(BlockSizeFor(0), BlockPool::kSmall);
  EXPECT_EQ(BlockSizeFor(BlockPool::kSmall), BlockPool::kSmall);
  EXPECT_EQ(BlockSizeFor(BlockPool::kSmall + 1), BlockPool::kMedium);
  EXPECT_EQ(BlockSizeFor(BlockPool::kLarge / 2 - 1), BlockPool::kMedium);
  EXPECT_EQ(BlockSizeFor(BlockPool::kLarge / 2), BlockPool::kLarge);
  EXPECT_EQ(BlockSizeFor(size_t{1} << 40), BlockPool::kLarge);
}

}  // namespace
}  // namespace farcall
