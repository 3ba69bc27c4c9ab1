// SPDX-License-Identifier: Apache-2.0
//
// BlockPool grown ahead of need, and where it cannot grow.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
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

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kRegion = 2 * kMiB;
constexpr size_t kPerRegion = kRegion / BlockPool::kMedium;

std::unique_ptr<BlockPool> NewPool(size_t regions, MemoryRegistrar* registrar = nullptr) {
  auto pool =
      BlockPool::Create({.region_bytes = kRegion, .max_bytes = regions * kRegion}, registrar);
  Check(pool.ok(), "the options are valid");
  return *std::move(pool);
}

std::vector<BlockRef> Allocate(BlockPool& pool, size_t bytes, size_t count) {
  std::vector<BlockRef> blocks;
  for (size_t i = 0; i < count; ++i) blocks.push_back(pool.Allocate(bytes));
  return blocks;
}

TEST(BlockPoolGrowthTest, ReserveMapsUntilSoManyBlocksAreFree) {
  FakeRegistrar registrar;
  const auto pool = NewPool(8, &registrar);
  ASSERT_TRUE(pool->Reserve(BlockPool::kMedium, 1).ok());
  EXPECT_EQ(registrar.regions(), 1u);
  ASSERT_TRUE(pool->Reserve(BlockPool::kMedium, kPerRegion).ok());
  EXPECT_EQ(registrar.regions(), 1u);
  ASSERT_TRUE(pool->Reserve(BlockPool::kMedium, kPerRegion + 1).ok());
  EXPECT_EQ(registrar.regions(), 2u);
  const auto held = Allocate(*pool, BlockPool::kMedium, 2 * kPerRegion);
  EXPECT_TRUE(held.back());
  EXPECT_EQ(registrar.regions(), 2u);
  ASSERT_TRUE(pool->Reserve(BlockPool::kMedium, 1).ok());
  EXPECT_EQ(registrar.regions(), 3u);
}

// Else a class that has few regions, since others were faster, would be starved for good.
TEST(BlockPoolGrowthTest, AtTheLimitAFreeBlockOfALargerClassDoes) {
  const auto pool = NewPool(3);
  auto small = Allocate(*pool, BlockPool::kSmall, kRegion / BlockPool::kSmall);
  auto medium = Allocate(*pool, BlockPool::kMedium, 1);
  auto large = Allocate(*pool, BlockPool::kLarge, 1);
  medium.clear();
  BlockRef instead = pool->Allocate(1);
  ASSERT_TRUE(instead);
  EXPECT_EQ(instead->capacity, BlockPool::kMedium);
  auto others = Allocate(*pool, BlockPool::kMedium, kPerRegion - 1);
  EXPECT_FALSE(pool->Allocate(1));
  EXPECT_EQ(pool->stats().exhausted, 1u);
  large.clear();
  large.push_back(pool->Allocate(1));
  ASSERT_TRUE(large.back());
  EXPECT_EQ(large.back()->capacity, BlockPool::kLarge);
  // It comes home to its own class.
  large.clear();
  EXPECT_EQ(pool->Allocate(BlockPool::kLarge)->capacity, BlockPool::kLarge);
  EXPECT_EQ(pool->stats().region_bytes, 3 * kRegion);
}

TEST(BlockPoolGrowthTest, ReserveOfNothingMapsNothing) {
  const auto pool = NewPool(3);
  EXPECT_TRUE(pool->Reserve(1, 0).ok());
  EXPECT_EQ(pool->stats().region_bytes, 0u);
}

TEST(BlockPoolGrowthTest, ReserveCountsBlocksThatOtherThreadsFreed) {
  const auto pool = NewPool(8);
  auto blocks = Allocate(*pool, BlockPool::kMedium, kPerRegion);
  std::thread([&] { blocks.clear(); }).join();
  EXPECT_TRUE(pool->Reserve(BlockPool::kMedium, kPerRegion).ok());
  EXPECT_EQ(pool->stats().region_bytes, kRegion);
}

TEST(BlockPoolGrowthTest, ReserveBeyondTheLimitTellsItAndKeepsWhatWasMapped) {
  const auto pool = NewPool(4);
  const absl::Status status = pool->Reserve(BlockPool::kMedium, 3 * kPerRegion);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  const std::string message(status.message());
  EXPECT_NE(message.find("96 blocks of 65536 bytes are wanted, 64 are free"), std::string::npos)
      << message;
  EXPECT_NE(message.find("BlockPoolOptions.max_bytes = 8388608"), std::string::npos) << message;
  EXPECT_EQ(pool->stats().region_bytes, 2 * kRegion);
  EXPECT_EQ(pool->stats().exhausted, 0u);
  EXPECT_EQ(pool->stats().failed_growths, 0u);
}

TEST(BlockPoolGrowthTest, GrowsAheadOnlyWhereLessThanAQuarterOfARegionIsFree) {
  const auto pool = NewPool(8);
  EXPECT_FALSE(pool->GrowAhead());
  EXPECT_EQ(pool->stats().region_bytes, 0u);
  auto held = Allocate(*pool, BlockPool::kMedium, kPerRegion - kPerRegion / 4);
  EXPECT_FALSE(pool->GrowAhead());
  held.push_back(pool->Allocate(BlockPool::kMedium));
  EXPECT_TRUE(pool->GrowAhead());
  EXPECT_EQ(pool->stats().region_bytes, 2 * kRegion);
  EXPECT_FALSE(pool->GrowAhead());
}

TEST(BlockPoolGrowthTest, GrowsAheadForEachClassInUse) {
  const auto pool = NewPool(8);
  const auto medium = Allocate(*pool, BlockPool::kMedium, kPerRegion);
  const auto large = Allocate(*pool, BlockPool::kLarge, 1);
  EXPECT_TRUE(pool->GrowAhead());
  EXPECT_EQ(pool->stats().region_bytes, 4 * kRegion);
}

TEST(BlockPoolGrowthTest, GrowsAheadUpToTheLimit) {
  const auto pool = NewPool(3);
  const auto held = Allocate(*pool, BlockPool::kMedium, kPerRegion);
  EXPECT_FALSE(pool->GrowAhead());
  EXPECT_EQ(pool->stats().region_bytes, kRegion);
}

// While it lives this process gets half a GiB of address space more, and no region of a GiB.
class AddressSpaceLimit {
 public:
  AddressSpaceLimit() {
    size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    Check(pages > 0 && getrlimit(RLIMIT_AS, &former_) == 0, "proc(5) and getrlimit(2) work");
    rlimit limit = former_;
    limit.rlim_cur = pages * static_cast<size_t>(sysconf(_SC_PAGESIZE)) + 512 * kMiB;
    Check(setrlimit(RLIMIT_AS, &limit) == 0, "a limit may be lowered");
  }
  ~AddressSpaceLimit() { Check(setrlimit(RLIMIT_AS, &former_) == 0, "and raised again"); }

 private:
  rlimit former_{};
};

TEST(BlockPoolGrowthTest, ARegionThatCannotBeMappedIsCountedAndTriedAgain) {
  auto made = BlockPool::Create({.region_bytes = 1024 * kMiB, .max_bytes = 4096 * kMiB});
  ASSERT_TRUE(made.ok());
  BlockPool& pool = **made;
  {
    const AddressSpaceLimit limit;
    EXPECT_FALSE(pool.Allocate(1));
    const std::string message(pool.Reserve(1, 1).message());
    EXPECT_NE(message.find("mmap of 1073741824 bytes"), std::string::npos) << message;
  }
  const BlockPoolStats stats = pool.stats();
  EXPECT_EQ(stats.failed_growths, 2u);
  EXPECT_EQ(stats.exhausted, 1u);
  EXPECT_EQ(stats.region_bytes, 0u);
  EXPECT_TRUE(pool.Allocate(1));
}

}  // namespace
}  // namespace farcall
