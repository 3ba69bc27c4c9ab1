// SPDX-License-Identifier: Apache-2.0

#include "transport/buffer/region.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "transport/base/check.h"
#include "transport/base/sanitizer.h"
#include "transport/buffer/poison.h"
#include "transport/buffer/registrar_testing.h"

namespace farcall {
namespace {

constexpr size_t kBytes = size_t{4} << 20;
constexpr uint32_t kBlock = 64 << 10;

class NoOwner final : public BlockOwner {
 public:
  void Recycle(Block&) override { Check(false, "nothing is referenced here"); }
};

class RegionTest : public testing::Test {
 protected:
  std::unique_ptr<Region> Map(bool huge_pages, MemoryRegistrar* registrar = nullptr) {
    auto region = Region::Map(kBytes, kBlock, huge_pages, /*node=*/-1, registrar, owner_);
    Check(region.ok(), "4 MiB can be mapped");
    return *std::move(region);
  }

  NoOwner owner_;
};

TEST_F(RegionTest, IsCutIntoBlocksWithoutGaps) {
  const auto region = Map(false);
  EXPECT_FALSE(region->huge_pages());
  ASSERT_EQ(region->block_count(), kBytes / kBlock);
  const std::byte* at = region->first_block().data;
  EXPECT_EQ(reinterpret_cast<uintptr_t>(at) % Region::kAlignment, 0u);
  size_t count = 0;
  for (const Block* block = &region->first_block(); block != nullptr; block = block->next) {
    EXPECT_EQ(block->data, at);
    EXPECT_EQ(block->capacity, kBlock);
    EXPECT_EQ(block->owner, &owner_);
    EXPECT_EQ(block->keys, nullptr);
    EXPECT_EQ(block->references, 0u);
    at += kBlock;
    if (++count == region->block_count()) {
      EXPECT_EQ(block, &region->last_block());
    }
  }
  EXPECT_EQ(count, region->block_count());
}

// With reserved huge pages, with transparent ones and with none at all.
TEST_F(RegionTest, IsWritableWithHugePagesAskedFor) {
  const auto region = Map(true);
  std::byte* const start = region->first_block().data;
  EXPECT_EQ(reinterpret_cast<uintptr_t>(start) % Region::kAlignment, 0u);
  UnpoisonBytes(start, kBytes);
  std::memset(start, 1, kBytes);
  EXPECT_EQ(start[kBytes - 1], std::byte{1});
}

TEST_F(RegionTest, BytesOfFreshBlocksAreOutOfBounds) {
  const auto region = Map(false);
  EXPECT_EQ(IsPoisoned(region->first_block().data), kAddressSanitizer);
  EXPECT_EQ(IsPoisoned(region->last_block().data + kBlock - 1), kAddressSanitizer);
}

TEST_F(RegionTest, IsRegisteredWholeAsLongAsItLives) {
  FakeRegistrar registrar;
  auto region = Map(false, &registrar);
  EXPECT_EQ(registrar.regions(), 1u);
  const RegionKeys* const keys = region->first_block().keys;
  ASSERT_NE(keys, nullptr);
  EXPECT_EQ(keys->region.data(), region->first_block().data);
  EXPECT_EQ(keys->region.size(), kBytes);
  EXPECT_EQ(region->last_block().keys, keys);
  region.reset();
  EXPECT_EQ(registrar.regions(), 0u);
}

TEST_F(RegionTest, FailsWithSizeAndCureWhenThereIsNoAddressSpace) {
  for (const bool huge_pages : {false, true}) {
    const auto region = Region::Map(size_t{1} << 50, 2 << 20, huge_pages, -1, nullptr, owner_);
    ASSERT_FALSE(region.ok());
    const std::string message(region.status().message());
    EXPECT_NE(message.find("mmap of 1125899906842624 bytes"), std::string::npos) << message;
    EXPECT_NE(message.find("lower max_bytes"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace farcall
