// SPDX-License-Identifier: Apache-2.0

#include "transport/buffer/pool_watch.h"

#include <memory>
#include <vector>

#include "gtest/gtest.h"

namespace farcall {
namespace {

// As if all of them were asked since the last look.
bool IsShort(PoolWatch& watch) {
  bool last = false;
  for (uint32_t i = 0; i < PoolWatch::kEach; ++i) last = watch.IsShort();
  return last;
}

TEST(PoolWatchTest, MemoryIsShortWhenMoreThanHalfOfItIsInUse) {
  const auto pool =
      *BlockPool::Create({.region_bytes = size_t{2} << 20, .max_bytes = size_t{16} << 20});
  PoolWatch watch(*pool);
  EXPECT_FALSE(IsShort(watch));
  std::vector<BlockRef> taken;
  for (int i = 0; i < 4; ++i) taken.push_back(pool->Allocate(BlockPool::kLarge));
  EXPECT_FALSE(IsShort(watch)) << "half";
  taken.push_back(pool->Allocate(BlockPool::kSmall));
  EXPECT_TRUE(IsShort(watch));
  taken.pop_back();
  EXPECT_FALSE(IsShort(watch));
}

TEST(PoolWatchTest, TheFirstQuestionLooks) {
  const auto pool =
      *BlockPool::Create({.region_bytes = size_t{2} << 20, .max_bytes = size_t{6} << 20});
  const std::vector<BlockRef> taken(
      {pool->Allocate(BlockPool::kLarge), pool->Allocate(BlockPool::kMedium)});
  PoolWatch before(*pool);
  EXPECT_FALSE(before.IsShort());
  std::vector<BlockRef> more;
  while (BlockRef block = pool->Allocate(BlockPool::kMedium)) more.push_back(std::move(block));
  PoolWatch after(*pool);
  EXPECT_TRUE(after.IsShort());
}

}  // namespace
}  // namespace farcall
