// SPDX-License-Identifier: Apache-2.0

#include "examples/kv/value_blocks.h"

#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace example {
namespace {

using farcall::BlockPool;
using farcall::BlockRef;
using farcall::Buffer;

class ValueBlocksTest : public testing::Test {
 protected:
  // `bytes` at the beginning of a block of that size.
  Buffer In(uint32_t block_bytes, uint32_t bytes) {
    BlockRef block = pool_->Allocate(block_bytes);
    for (uint32_t i = 0; i < bytes; ++i) block->bytes()[i] = static_cast<char>(i % 251);
    Buffer value;
    value.Append(block, 0, bytes);
    return value;
  }

  std::unique_ptr<BlockPool> pool_ =
      *BlockPool::Create({.region_bytes = size_t{2} << 20, .max_bytes = size_t{6} << 20});
};

TEST_F(ValueBlocksTest, ABlockCountsOnceAndAsAWhole) {
  EXPECT_EQ(PinnedBytes(Buffer()), 0u);
  Buffer value = In(BlockPool::kMedium, 20'000);
  EXPECT_EQ(PinnedBytes(value), size_t{BlockPool::kMedium});
  Buffer two = value.CutFront(5000);
  two.Append(value.CutFront(3000));
  value.RemoveFront(2000);
  two.Append(std::move(value));
  EXPECT_EQ(PinnedBytes(two), size_t{BlockPool::kMedium}) << "of two slices";
  two.Append(In(BlockPool::kSmall, 1));
  EXPECT_EQ(PinnedBytes(two), size_t{BlockPool::kMedium} + BlockPool::kSmall);
}

TEST_F(ValueBlocksTest, WhatIsMoreThanHalfUsedStaysWhereItIs) {
  for (const uint32_t bytes : {BlockPool::kMedium, BlockPool::kMedium / 2}) {
    Buffer value = In(BlockPool::kMedium, bytes);
    const farcall::Block* const block = value.slices().front().block.get();
    EXPECT_EQ(Tightened(std::move(value), *pool_).slices().front().block.get(), block);
  }
}

TEST_F(ValueBlocksTest, OthersAreCopiedAndPinLessThanTwiceTheirSize) {
  for (const uint32_t bytes : {4097u, 8192u, 8193u, 16'385u, 20'000u, 32'767u}) {
    Buffer value = In(BlockPool::kMedium, bytes);
    const std::string before = value.ToString();
    value = Tightened(std::move(value), *pool_);
    EXPECT_EQ(value.ToString(), before);
    EXPECT_LT(PinnedBytes(value), 2 * value.size()) << bytes;
    EXPECT_EQ(pool_->stats().used_bytes, PinnedBytes(value)) << "the old block is free";
  }
}

TEST_F(ValueBlocksTest, WithoutBlocksItStaysWhereItIs) {
  Buffer value = In(BlockPool::kMedium, 20'000);
  std::vector<BlockRef> all;
  while (BlockRef block = pool_->Allocate(BlockPool::kSmall)) all.push_back(std::move(block));
  value = Tightened(std::move(value), *pool_);
  EXPECT_EQ(PinnedBytes(value), size_t{BlockPool::kMedium});
}

}  // namespace
}  // namespace example
