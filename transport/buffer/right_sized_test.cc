// SPDX-License-Identifier: Apache-2.0

#include "transport/buffer/right_sized.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace farcall {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr uint32_t kSmall = BlockPool::kSmall;
constexpr uint32_t kMedium = BlockPool::kMedium;
constexpr uint32_t kLarge = BlockPool::kLarge;

size_t Below(std::mt19937& random, size_t end) {
  return std::uniform_int_distribution<size_t>(0, end - 1)(random);
}

std::string Pattern(size_t bytes) {
  std::string text(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(i % 251);
  return text;
}

class RightSizedTest : public testing::Test {
 protected:
  static std::unique_ptr<BlockPool> PoolOf(size_t max_bytes) {
    return *BlockPool::Create({.region_bytes = 2 * kMiB, .max_bytes = max_bytes});
  }
  // `bytes` at the beginning of a block of that size.
  Buffer In(uint32_t block_bytes, uint32_t bytes) {
    Buffer value;
    value.Append(pool_->Allocate(block_bytes), 0, bytes);
    value.CopyFrom(Pattern(bytes).data(), bytes);
    return value;
  }
  // All that the pool has left of a class, and of larger ones.
  std::vector<BlockRef> Drain(uint32_t block_bytes) {
    std::vector<BlockRef> all;
    while (BlockRef block = pool_->Allocate(block_bytes)) all.push_back(std::move(block));
    return all;
  }

  std::unique_ptr<BlockPool> pool_ = PoolOf(16 * kMiB);
};

TEST_F(RightSizedTest, AllocatedBytesAreInBlocksThatTheyFill) {
  const struct {
    size_t bytes;
    std::vector<uint32_t> blocks;
  } kCases[] = {
      {0, {}},
      {1, {kSmall}},
      {kSmall, {kSmall}},
      {kSmall + 1, {kSmall, kSmall}},
      {17 << 10, {kSmall, kSmall, kSmall}},
      {kMedium / 2, {kSmall, kSmall, kSmall, kSmall}},
      {kMedium / 2 + 1, {kMedium}},
      {kMedium + 1, {kMedium, kSmall}},
      {3 * kMedium, {kMedium, kMedium, kMedium}},
      {kMiB + 1, {kLarge}},
      {kLarge + kMedium, {kLarge, kMedium}},
  };
  for (const auto& [bytes, blocks] : kCases) {
    SCOPED_TRACE(bytes);
    const auto buffer = AllocateBuffer(*pool_, bytes);
    ASSERT_TRUE(buffer.ok()) << buffer.status();
    EXPECT_EQ(buffer->size(), bytes);
    std::vector<uint32_t> taken;
    for (const Buffer::Slice& slice : buffer->slices()) taken.push_back(slice.block->capacity);
    EXPECT_EQ(taken, blocks);
  }
}

TEST_F(RightSizedTest, OfMoreThanHalfASmallBlockLessThanTwiceIsPinned) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    const size_t bytes = 4097 + Below(random, i % 2 == 0 ? 5 * kMiB : 100'000);
    const auto buffer = AllocateBuffer(*pool_, bytes);
    ASSERT_TRUE(buffer.ok()) << buffer.status();
    ASSERT_LT(buffer->pinned_bytes(), 2 * bytes) << bytes;
    ASSERT_EQ(pool_->stats().used_bytes, buffer->pinned_bytes());
  }
}

TEST_F(RightSizedTest, AnExhaustedPoolGivesNothingAndKeepsWhatItHas) {
  const auto refused = AllocateBuffer(*pool_, 17 * kMiB);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(refused.status().message().find("17825792 bytes"), absl::string_view::npos)
      << refused.status();
  EXPECT_NE(refused.status().message().find("pool.max_bytes"), absl::string_view::npos);
  EXPECT_EQ(pool_->stats().used_bytes, 0u);
}

TEST_F(RightSizedTest, WithoutLargeBlocksSmallerOnesDo) {
  pool_ = PoolOf(6 * kMiB);
  const std::vector<BlockRef> large = Drain(kLarge);
  const auto buffer = AllocateBuffer(*pool_, 2 * kMiB);
  ASSERT_TRUE(buffer.ok()) << buffer.status();
  EXPECT_EQ(buffer->slices().size(), size_t{kLarge / kMedium});
}

TEST_F(RightSizedTest, WhatIsMoreThanHalfUsedStaysWhereItIs) {
  for (const uint32_t bytes : {kMedium, kMedium / 2 + 1}) {
    Buffer value = In(kMedium, bytes);
    const Block* const block = value.slices().front().block.get();
    EXPECT_EQ(RightSized(*pool_, std::move(value)).slices().front().block.get(), block);
  }
  EXPECT_TRUE(RightSized(*pool_, Buffer()).empty());
}

TEST_F(RightSizedTest, OthersAreCopiedAndTheirOldBlockIsFree) {
  for (const uint32_t bytes : {1u, 100u, 4096u, 4097u, 8192u, 8193u, 16'385u, 20'000u, 32'768u}) {
    SCOPED_TRACE(bytes);
    const Buffer value = RightSized(*pool_, In(kMedium, bytes));
    EXPECT_EQ(value.ToString(), Pattern(bytes));
    EXPECT_LT(value.pinned_bytes(), 2 * value.size());
    EXPECT_EQ(pool_->stats().used_bytes, bytes <= 4096 ? 0 : value.pinned_bytes());
  }
}

TEST_F(RightSizedTest, ManyPartsAreCopiedInTheirOrder) {
  const std::string text = Pattern(300'000);
  std::mt19937 random(2);
  for (int round = 0; round < 50; ++round) {
    Buffer parts;
    while (parts.size() < 250'000) {
      const auto bytes = static_cast<uint32_t>(1 + Below(random, 20'000));
      Buffer::Slice slice{pool_->Allocate(kMedium), static_cast<uint32_t>(Below(random, 1000)),
                          bytes};
      Buffer one;
      one.Append(std::move(slice));
      one.CopyFrom(text.data() + parts.size(), bytes);
      parts.Append(std::move(one));
    }
    const size_t size = parts.size();
    const Buffer value = RightSized(*pool_, std::move(parts));
    ASSERT_LT(value.pinned_bytes(), 2 * size);
    ASSERT_EQ(value.ToString(), text.substr(0, size));
    ASSERT_EQ(pool_->stats().used_bytes, value.pinned_bytes());
  }
}

TEST_F(RightSizedTest, WithoutBlocksThatFitItIsCopiedToTheHeap) {
  pool_ = PoolOf(6 * kMiB);
  Buffer none_left = In(kMedium, 20'000);
  Buffer larger_left = In(kMedium, 20'000);
  {
    const std::vector<BlockRef> all = Drain(kSmall);
    none_left = RightSized(*pool_, std::move(none_left));
  }
  {
    std::vector<BlockRef> all = Drain(kSmall);
    while (all.back()->capacity == kSmall) all.pop_back();
    ASSERT_GT(all.back()->capacity, kSmall);
    all.pop_back();
    larger_left = RightSized(*pool_, std::move(larger_left));
  }
  for (const Buffer* value : {&none_left, &larger_left}) {
    EXPECT_EQ(value->ToString(), Pattern(20'000));
    EXPECT_EQ(value->pinned_bytes(), 20'000u);
  }
  EXPECT_EQ(pool_->stats().used_bytes, 0u);
}

TEST_F(RightSizedTest, MemoryOfTheProgramIsLeftAlone) {
  const std::string own(1 << 20, 'o');
  Buffer value;
  value.AppendUserData(own.data(), own.size(), nullptr);
  value.RemoveFront(own.size() - 10);
  const Buffer kept = RightSized(*pool_, std::move(value));
  EXPECT_EQ(kept.slices()[0].view().data(), own.data() + own.size() - 10);
  EXPECT_EQ(kept.pinned_bytes(), 10u);
}

}  // namespace
}  // namespace farcall
