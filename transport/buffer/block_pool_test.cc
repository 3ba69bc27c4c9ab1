// SPDX-License-Identifier: Apache-2.0

#include "transport/buffer/block_pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "transport/base/check.h"
#include "transport/base/sanitizer.h"
#include "transport/buffer/poison.h"
#include "transport/buffer/registrar_testing.h"

namespace farcall {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kRegion = 2 * kMiB;

// A region for each class: 256 small blocks, 32 of medium size, one large.
constexpr BlockPoolOptions kTiny = {.region_bytes = kRegion, .max_bytes = 3 * kRegion};

std::unique_ptr<BlockPool> NewPool(const BlockPoolOptions& options,
                                   MemoryRegistrar* registrar = nullptr) {
  auto pool = BlockPool::Create(options, registrar);
  Check(pool.ok(), "the options are valid");
  return *std::move(pool);
}

std::vector<BlockRef> AllocateAll(BlockPool& pool, size_t bytes) {
  std::vector<BlockRef> blocks;
  while (BlockRef block = pool.Allocate(bytes)) blocks.push_back(std::move(block));
  return blocks;
}

std::string MessageFor(size_t region_bytes, size_t max_bytes) {
  const BlockPoolOptions options = {.region_bytes = region_bytes, .max_bytes = max_bytes};
  const absl::Status status = options.Validate();
  EXPECT_EQ(BlockPool::Create(options).status(), status);
  return std::string(status.message());
}

TEST(BlockPoolOptionsTest, DefaultsAndBoundsAreValid) {
  EXPECT_TRUE(BlockPoolOptions().Validate().ok());
  EXPECT_EQ(MessageFor(2 * kMiB, 6 * kMiB), "");
  EXPECT_EQ(MessageFor(6 * kMiB, 19 * kMiB), "");
  EXPECT_EQ(MessageFor(1024 * kMiB, 3072 * kMiB), "");
  EXPECT_EQ(MessageFor(2 * kMiB, ~size_t{0}), "");
}

TEST(BlockPoolOptionsTest, ErrorsNameTheValueAndTheCure) {
  for (const size_t bytes : {size_t{0}, kMiB, 3 * kMiB, 2 * kMiB + 1, 1026 * kMiB, ~size_t{0}}) {
    const std::string message = MessageFor(bytes, ~size_t{0});
    EXPECT_NE(message.find("region_bytes is " + std::to_string(bytes)), std::string::npos);
    EXPECT_NE(message.find("multiple of 2 MiB"), std::string::npos);
  }
  for (const size_t bytes : {size_t{0}, 2 * kMiB, 6 * kMiB - 1}) {
    const std::string message = MessageFor(2 * kMiB, bytes);
    EXPECT_NE(message.find("max_bytes is " + std::to_string(bytes)), std::string::npos);
    EXPECT_NE(message.find("at least 6291456"), std::string::npos) << message;
  }
}

TEST(BlockPoolTest, GivesTheSmallestClassThatHoldsTheBytes) {
  const auto pool = NewPool(kTiny);
  EXPECT_EQ(pool->Allocate(0)->capacity, BlockPool::kSmall);
  EXPECT_EQ(pool->Allocate(BlockPool::kSmall)->capacity, BlockPool::kSmall);
  EXPECT_EQ(pool->Allocate(BlockPool::kSmall + 1)->capacity, BlockPool::kMedium);
  EXPECT_EQ(pool->Allocate(BlockPool::kMedium)->capacity, BlockPool::kMedium);
  EXPECT_EQ(pool->Allocate(BlockPool::kMedium + 1)->capacity, BlockPool::kLarge);
  EXPECT_EQ(pool->Allocate(BlockPool::kLarge)->capacity, BlockPool::kLarge);
  EXPECT_EQ(pool->Allocate(~size_t{0})->capacity, BlockPool::kLarge);
}

TEST(BlockPoolTest, BlocksAreWritableApartAndReferredToOnce) {
  const auto pool = NewPool(kTiny);
  std::vector<BlockRef> blocks = AllocateAll(*pool, BlockPool::kMedium);
  ASSERT_EQ(blocks.size(), kRegion / BlockPool::kMedium);
  for (size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_TRUE(blocks[i].unique());
    std::memset(blocks[i]->bytes(), static_cast<int>(i), BlockPool::kMedium);
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(blocks[i]->bytes()[0], static_cast<char>(i));
    EXPECT_EQ(blocks[i]->bytes()[BlockPool::kMedium - 1], static_cast<char>(i));
  }
}

TEST(BlockPoolTest, MapsNothingBeforeTheFirstAllocation) {
  const auto pool = NewPool({});
  EXPECT_EQ(pool->stats().region_bytes, 0u);
  const BlockRef block = pool->Allocate(1);
  EXPECT_EQ(pool->stats().region_bytes, BlockPoolOptions().region_bytes);
}

TEST(BlockPoolTest, GivesAFreedBlockAgain) {
  const auto pool = NewPool(kTiny);
  BlockRef block = pool->Allocate(1);
  const Block* const first = block.get();
  block = BlockRef();
  block = pool->Allocate(1);
  EXPECT_EQ(block.get(), first);
}

TEST(BlockPoolTest, GivesNothingBeyondItsLimitAndRecovers) {
  const auto pool = NewPool(kTiny);
  for (int round = 0; round < 3; ++round) {
    std::vector<BlockRef> blocks = AllocateAll(*pool, BlockPool::kSmall);
    EXPECT_EQ(blocks.size(), kRegion / BlockPool::kSmall);
    EXPECT_FALSE(pool->Allocate(1));
    blocks.pop_back();
    EXPECT_TRUE(pool->Allocate(1));
  }
  EXPECT_EQ(pool->stats().region_bytes, kRegion);
  EXPECT_EQ(pool->stats().exhausted, 6u);
}

TEST(BlockPoolTest, KeepsARegionForEachClassThatHasNone) {
  const auto pool = NewPool({.region_bytes = kRegion, .max_bytes = 5 * kRegion + 1});
  const std::vector<BlockRef> small = AllocateAll(*pool, BlockPool::kSmall);
  EXPECT_EQ(small.size(), 3 * kRegion / BlockPool::kSmall);
  const std::vector<BlockRef> large = AllocateAll(*pool, BlockPool::kLarge);
  EXPECT_EQ(large.size(), 1u);
  const std::vector<BlockRef> medium = AllocateAll(*pool, BlockPool::kMedium);
  EXPECT_EQ(medium.size(), kRegion / BlockPool::kMedium);
  EXPECT_EQ(pool->stats().region_bytes, 5 * kRegion);
}

TEST(BlockPoolTest, StatsCountBytesAndCalls) {
  const auto pool = NewPool(kTiny);
  std::vector<BlockRef> blocks;
  for (const size_t bytes : {1, 10'000, 1'000'000}) blocks.push_back(pool->Allocate(bytes));
  BlockPoolStats stats = pool->stats();
  EXPECT_EQ(stats.region_bytes, 3 * kRegion);
  EXPECT_EQ(stats.used_bytes, BlockPool::kSmall + BlockPool::kMedium + BlockPool::kLarge);
  EXPECT_EQ(stats.allocations, 3u);
  EXPECT_EQ(stats.exhausted, 0u);
  EXPECT_EQ(stats.failed_growths, 0u);
  EXPECT_FALSE(pool->Allocate(BlockPool::kLarge));
  blocks.clear();
  stats = pool->stats();
  EXPECT_EQ(stats.used_bytes, 0u);
  EXPECT_EQ(stats.allocations, 3u);
  EXPECT_EQ(stats.exhausted, 1u);
}

TEST(BlockPoolTest, WorksWithHugePagesOrWithoutAny) {
  const auto pool =
      NewPool({.region_bytes = kRegion, .max_bytes = 3 * kRegion, .huge_pages = true});
  const BlockRef block = pool->Allocate(BlockPool::kLarge);
  ASSERT_TRUE(block);
  std::memset(block->bytes(), 1, BlockPool::kLarge);
  EXPECT_EQ(pool->stats().region_bytes, kRegion);
}

TEST(BlockPoolTest, BytesAreInBoundsWhileReferredToOnly) {
  const auto pool = NewPool(kTiny);
  BlockRef block = pool->Allocate(1);
  const std::byte* const data = block->data;
  EXPECT_FALSE(IsPoisoned(data));
  EXPECT_FALSE(IsPoisoned(data + BlockPool::kSmall - 1));
  block = BlockRef();
  EXPECT_EQ(IsPoisoned(data), kAddressSanitizer);
}

TEST(BlockPoolTest, RegistersEachRegionAndGivesItsKeysToTheBlocks) {
  FakeRegistrar registrar;
  {
    const auto pool = NewPool(kTiny, &registrar);
    const BlockRef small = pool->Allocate(1);
    const BlockRef medium = pool->Allocate(BlockPool::kMedium);
    EXPECT_EQ(registrar.regions(), 2u);
    for (const BlockRef& block : {small, medium}) {
      ASSERT_NE(block->keys, nullptr);
      const std::span<std::byte> region = block->keys->region;
      EXPECT_GE(block->data, region.data());
      EXPECT_LE(block->data + block->capacity, region.data() + region.size());
    }
    EXPECT_NE(small->keys, medium->keys);
  }
  EXPECT_EQ(registrar.regions(), 0u);
}

TEST(BlockPoolDeathTest, EveryBlockComesHomeFirst) {
  EXPECT_DEATH(
      {
        auto pool = NewPool(kTiny);
        const BlockRef block = pool->Allocate(1);
        pool.reset();
      },
      "outlives the Runtime .or BlockPool. whose blocks it has: let go of it before");
}

}  // namespace
}  // namespace farcall
