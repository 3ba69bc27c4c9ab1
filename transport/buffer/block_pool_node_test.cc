// SPDX-License-Identifier: Apache-2.0
//
// The parts of a BlockPool for NUMA nodes.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "transport/base/check.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/registrar_testing.h"

namespace farcall {
namespace {

constexpr size_t kRegion = size_t{2} << 20;
constexpr size_t kPerRegion = kRegion / BlockPool::kMedium;

class BlockPoolNodeTest : public testing::Test {
 protected:
  void SetUp() override { Make(8); }
  void Make(size_t regions) {
    pool_ =
        BlockPool::Create({.region_bytes = kRegion, .max_bytes = regions * kRegion}, &registrar_)
            .value();
  }
  static std::vector<BlockRef> Allocate(BlockPool& pool, size_t bytes, size_t count) {
    std::vector<BlockRef> blocks;
    for (size_t i = 0; i < count; ++i) blocks.push_back(pool.Allocate(bytes));
    return blocks;
  }
  static std::vector<BlockRef> AllocateAll(BlockPool& pool, size_t bytes) {
    std::vector<BlockRef> blocks;
    while (BlockRef block = pool.Allocate(bytes)) blocks.push_back(std::move(block));
    return blocks;
  }
  static std::vector<int> NodesOf(const std::vector<BlockRef>& blocks) {
    std::vector<int> nodes;
    for (const BlockRef& block : blocks) nodes.push_back(block ? block->keys->node : -2);
    return nodes;
  }

  FakeRegistrar registrar_;
  std::unique_ptr<BlockPool> pool_;
};

TEST_F(BlockPoolNodeTest, EachPartHasItsOwnRegionsAndIsMadeOnce) {
  BlockPool& one = pool_->OnNode(1);
  EXPECT_EQ(&pool_->OnNode(-1), pool_.get());
  EXPECT_EQ(&pool_->OnNode(1), &one);
  EXPECT_EQ(&one.OnNode(1), &one);
  EXPECT_EQ(&one.OnNode(-1), pool_.get());
  EXPECT_EQ(&one.OnNode(0), &pool_->OnNode(0));
  EXPECT_EQ(pool_->stats().region_bytes, 0u) << "nothing is mapped before it is wanted";
  EXPECT_EQ(one.Allocate(1)->keys->node, 1);
  EXPECT_EQ(pool_->OnNode(0).Allocate(1)->keys->node, 0);
  EXPECT_EQ(pool_->Allocate(1)->keys->node, -1);
  EXPECT_EQ(registrar_.regions(), 3u);
}

// The thread has a free block of node 0 at hand, since it was the last to free one.
TEST_F(BlockPoolNodeTest, ABlockComesHomeWhoeverFreesIt) {
  BlockPool& one = pool_->OnNode(1);
  BlockPool& zero = pool_->OnNode(0);
  auto ones = Allocate(one, 1, 200);
  auto zeros = Allocate(zero, 1, 200);
  std::thread([&] {
    ones.clear();
    zeros.clear();
    for (int i = 0; i < 100; ++i) {
      ones.push_back(one.Allocate(1));
      zeros.push_back(zero.Allocate(1));
    }
  }).join();
  EXPECT_EQ(NodesOf(ones), std::vector<int>(100, 1));
  EXPECT_EQ(NodesOf(zeros), std::vector<int>(100, 0));
  EXPECT_EQ(registrar_.regions(), 2u);
}

TEST_F(BlockPoolNodeTest, APartGrowsBeforeItTakesOfAnother) {
  auto others = Allocate(pool_->OnNode(0), BlockPool::kMedium, kPerRegion);
  others.clear();
  const auto held = Allocate(pool_->OnNode(1), BlockPool::kMedium, kPerRegion + 1);
  EXPECT_EQ(NodesOf(held), std::vector<int>(kPerRegion + 1, 1));
  EXPECT_EQ(registrar_.regions(), 3u);
}

TEST_F(BlockPoolNodeTest, AtTheLimitItTakesOfAnother) {
  Make(4);
  auto first = Allocate(pool_->OnNode(0), BlockPool::kMedium, kPerRegion);
  const auto second = Allocate(pool_->OnNode(1), BlockPool::kMedium, kPerRegion);
  EXPECT_FALSE(pool_->OnNode(1).Allocate(BlockPool::kMedium));
  EXPECT_FALSE(pool_->OnNode(1).AllocateMapped(BlockPool::kMedium));
  first.pop_back();
  const BlockRef taken = pool_->OnNode(1).Allocate(BlockPool::kMedium);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->keys->node, 0);
  first.pop_back();
  EXPECT_EQ(pool_->Allocate(BlockPool::kMedium)->keys->node, 0);
  EXPECT_EQ(pool_->OnNode(1).AllocateMapped(BlockPool::kMedium)->keys->node, 0);
  EXPECT_EQ(pool_->stats().exhausted, 1u);
  EXPECT_EQ(pool_->stats().region_bytes, 2 * kRegion);
}

TEST_F(BlockPoolNodeTest, AnotherNodesBlockOfTheClassComesBeforeALargerOne) {
  Make(3);
  const auto large = Allocate(pool_->OnNode(1), BlockPool::kLarge, 1);
  auto medium = Allocate(pool_->OnNode(1), BlockPool::kMedium, 1);
  medium.clear();
  auto small = AllocateAll(pool_->OnNode(0), 1);
  ASSERT_EQ(small.size(), kRegion / BlockPool::kSmall + kPerRegion);
  EXPECT_EQ(small.back()->capacity, BlockPool::kMedium);
  EXPECT_EQ(small.back()->keys->node, 1) << "it has none itself";
  small.erase(small.begin(), small.begin() + 2);
  const BlockRef other = pool_->OnNode(1).Allocate(1);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->capacity, BlockPool::kSmall);
  EXPECT_EQ(other->keys->node, 0);
}

TEST_F(BlockPoolNodeTest, ARegionIsKeptForEachClassThatNoPartHas) {
  Make(5);
  const auto medium = AllocateAll(pool_->OnNode(0), BlockPool::kMedium);
  EXPECT_EQ(medium.size(), 3 * kPerRegion);
  EXPECT_EQ(pool_->OnNode(1).Allocate(BlockPool::kLarge)->keys->node, 1);
  EXPECT_EQ(pool_->OnNode(1).Allocate(1)->keys->node, 1);
  EXPECT_EQ(pool_->stats().region_bytes, 5 * kRegion);
  EXPECT_EQ(pool_->mapped_bytes(), 5 * kRegion);
}

TEST_F(BlockPoolNodeTest, StatsAreOfAllParts) {
  const auto one = Allocate(pool_->OnNode(1), BlockPool::kMedium, 3);
  const auto none = Allocate(*pool_, BlockPool::kSmall, 2);
  for (BlockPool* const pool : {pool_.get(), &pool_->OnNode(0), &pool_->OnNode(1)}) {
    const BlockPoolStats stats = pool->stats();
    EXPECT_EQ(stats.region_bytes, 2 * kRegion);
    EXPECT_EQ(stats.used_bytes, 3 * BlockPool::kMedium + 2 * BlockPool::kSmall);
    EXPECT_EQ(stats.max_bytes, 8 * kRegion);
    EXPECT_EQ(stats.allocations, 5u);
    EXPECT_EQ(pool->mapped_bytes(), 2 * kRegion);
  }
}

TEST_F(BlockPoolNodeTest, ReserveIsOfItsPartAndAtTheLimitOfAll) {
  Make(5);
  ASSERT_TRUE(pool_->OnNode(0).Reserve(BlockPool::kMedium, kPerRegion).ok());
  ASSERT_TRUE(pool_->OnNode(1).Reserve(BlockPool::kMedium, kPerRegion).ok());
  EXPECT_EQ(registrar_.regions(), 2u);
  ASSERT_TRUE(pool_->OnNode(1).Reserve(BlockPool::kMedium, 3 * kPerRegion).ok());
  EXPECT_EQ(registrar_.regions(), 3u);
  const absl::Status status = pool_->OnNode(1).Reserve(BlockPool::kMedium, 3 * kPerRegion + 1);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(std::string(status.message()).find("97 blocks of 65536 bytes are wanted, 96 are free"),
            std::string::npos)
      << status;
}

TEST_F(BlockPoolNodeTest, EachPartGrowsAhead) {
  const auto zero = Allocate(pool_->OnNode(0), BlockPool::kMedium, kPerRegion);
  const auto one = Allocate(pool_->OnNode(1), BlockPool::kMedium, 1);
  EXPECT_TRUE(pool_->GrowAhead());
  EXPECT_EQ(registrar_.regions(), 3u);
  EXPECT_EQ(NodesOf(Allocate(pool_->OnNode(0), BlockPool::kMedium, 1)), std::vector<int>{0});
  EXPECT_FALSE(pool_->GrowAhead());
}

using BlockPoolNodeDeathTest = BlockPoolNodeTest;

TEST_F(BlockPoolNodeDeathTest, EveryBlockOfEachPartComesHomeFirst) {
  EXPECT_DEATH(
      {
        const BlockRef block = pool_->OnNode(1).Allocate(1);
        pool_.reset();
      },
      "outlives the Runtime .or BlockPool. whose blocks it has: let go of it before");
}

}  // namespace
}  // namespace farcall
