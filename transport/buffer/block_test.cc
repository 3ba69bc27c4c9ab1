// SPDX-License-Identifier: Apache-2.0

#include "transport/buffer/block.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "transport/buffer/block_testing.h"

namespace farcall {
namespace {

TEST(BlockRefTest, LastReferenceSendsTheBlockHomeOnce) {
  TestBlocks blocks;
  BlockRef one = blocks.New("bytes");
  BlockRef two = one;
  one = BlockRef();
  EXPECT_EQ(blocks.live(), 1);
  two = BlockRef();
  EXPECT_EQ(blocks.live(), 0);
}

TEST(BlockRefTest, MovingCountsNothing) {
  TestBlocks blocks;
  BlockRef one = blocks.New("bytes");
  const BlockRef two = std::move(one);
  EXPECT_EQ(two->references, 1u);
  EXPECT_FALSE(one);
}

TEST(BlockRefTest, AssigningToItselfKeepsTheBlock) {
  TestBlocks blocks;
  BlockRef one = blocks.New("bytes");
  const BlockRef& same = one;
  one = same;
  EXPECT_EQ(one->references, 1u);
  EXPECT_EQ(blocks.live(), 1);
}

TEST(BlockRefTest, UniqueMeansThatNobodyElseRefersToTheBlock) {
  TestBlocks blocks;
  BlockRef one = blocks.New("bytes");
  EXPECT_TRUE(one.unique());
  {
    const BlockRef two = one;
    EXPECT_FALSE(one.unique());
    EXPECT_FALSE(two.unique());
  }
  EXPECT_TRUE(one.unique());
  EXPECT_FALSE(BlockRef().unique());
}

TEST(BlockRefTest, EqualsAnotherReferenceToTheSameBlockOnly) {
  TestBlocks blocks;
  const BlockRef one = blocks.New("bytes");
  const BlockRef two = blocks.New("bytes");
  EXPECT_EQ(one, BlockRef(one));
  EXPECT_NE(one, two);
  EXPECT_EQ(BlockRef(), BlockRef());
}

class AtomicOwner final : public BlockOwner {
 public:
  void Recycle(Block& block) override {
    // What the others wrote under their reference is seen by the last one.
    seen += block.data[0] == std::byte{7} ? 1 : 0;
    ++recycled;
  }
  std::atomic<int> seen{0};
  std::atomic<int> recycled{0};
};

TEST(BlockRefTest, ThreadsThatDropTogetherSendTheBlockHomeOnce) {
  constexpr int kRounds = 500;
  AtomicOwner owner;
  for (int round = 0; round < kRounds; ++round) {
    std::byte bytes[4] = {};
    Block block;
    block.data = bytes;
    block.capacity = sizeof(bytes);
    block.owner = &owner;
    block.references = 1;
    BlockRef mine = BlockRef::Adopt(block);
    std::thread other([theirs = mine]() mutable {
      theirs->data[0] = std::byte{7};
      theirs = BlockRef();
    });
    mine = BlockRef();
    other.join();
    ASSERT_EQ(owner.recycled, round + 1);
  }
  EXPECT_EQ(owner.seen, kRounds);
}

}  // namespace
}  // namespace farcall
