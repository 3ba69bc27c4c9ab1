// SPDX-License-Identifier: Apache-2.0

#include <google/protobuf/wrappers.pb.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "transport/base/check.h"
#include "transport/buffer/message_testing.h"
#include "transport/buffer/zero_copy_stream.h"

namespace farcall {
namespace {

constexpr size_t kRegion = size_t{2} << 20;

std::unique_ptr<BlockPool> NewPool(size_t regions) {
  auto pool = BlockPool::Create({.region_bytes = kRegion, .max_bytes = regions * kRegion});
  Check(pool.ok(), "the options are valid");
  return *std::move(pool);
}

// The block sizes that a message of `bytes`, expected to have `expected`, is written to.
std::vector<uint32_t> SizesFor(size_t bytes, size_t expected) {
  const auto pool = NewPool(16);
  google::protobuf::BytesValue message;
  message.set_value(std::string(bytes, 'x'));
  BlockOutputStream stream(*pool, expected);
  EXPECT_TRUE(message.SerializeToZeroCopyStream(&stream));
  EXPECT_EQ(stream.ByteCount(), static_cast<int64_t>(message.ByteSizeLong()));
  const Buffer buffer = stream.Take();
  EXPECT_EQ(buffer.ToString(), message.SerializeAsString());
  std::vector<uint32_t> sizes;
  for (const Buffer::Slice& slice : buffer.slices()) sizes.push_back(slice.block->capacity);
  return sizes;
}

TEST(BlockOutputStreamTest, BlocksFitWhatIsExpected) {
  const uint32_t small = BlockPool::kSmall;
  const uint32_t medium = BlockPool::kMedium;
  const uint32_t large = BlockPool::kLarge;
  EXPECT_EQ(SizesFor(100, 103), std::vector({small}));
  EXPECT_EQ(SizesFor(20'000, 20'004), std::vector({medium}));
  EXPECT_EQ(SizesFor(70'000, 70'004), std::vector({medium, small}));
  EXPECT_EQ(SizesFor(2'000'000, 2'000'005), std::vector({large}));
  EXPECT_EQ(SizesFor(2'100'000, 2'100'005), std::vector({large, small}));
}

TEST(BlockOutputStreamTest, AWrongExpectationCostsOnlySpace) {
  EXPECT_EQ(SizesFor(100, 20'000), std::vector({BlockPool::kMedium}));
  // Beyond it blocks grow with what was written.
  EXPECT_EQ(SizesFor(20'000, 0),
            std::vector({BlockPool::kSmall, BlockPool::kSmall, BlockPool::kMedium}));
}

TEST(BlockOutputStreamTest, RoundTripsMessages) {
  const auto pool = NewPool(8);
  for (const int values : {0, 1, 10, 300, 1500}) {
    const google::protobuf::ListValue message = SomeList(values);
    BlockOutputStream out(*pool, message.ByteSizeLong());
    ASSERT_TRUE(message.SerializeToZeroCopyStream(&out));
    const Buffer buffer = out.Take();
    EXPECT_EQ(buffer.size(), message.ByteSizeLong());
    BufferInputStream in(buffer);
    google::protobuf::ListValue parsed;
    ASSERT_TRUE(parsed.ParseFromZeroCopyStream(&in));
    EXPECT_EQ(parsed.DebugString(), message.DebugString());
  }
  EXPECT_EQ(pool->stats().used_bytes, 0u);
}

TEST(BlockOutputStreamTest, NothingWrittenIsAnEmptyBuffer) {
  const auto pool = NewPool(3);
  BlockOutputStream stream(*pool, 10);
  EXPECT_EQ(stream.ByteCount(), 0);
  EXPECT_TRUE(stream.Take().empty());
  BlockOutputStream given_back(*pool, 10);
  void* data = nullptr;
  int size = 0;
  ASSERT_TRUE(given_back.Next(&data, &size));
  given_back.BackUp(size);
  EXPECT_EQ(given_back.ByteCount(), 0);
  EXPECT_TRUE(given_back.Take().empty());
  EXPECT_EQ(pool->stats().used_bytes, 0u);
}

TEST(BlockOutputStreamTest, GivesAgainWhatWasBackedUp) {
  const auto pool = NewPool(3);
  BlockOutputStream stream(*pool, 10);
  void* first = nullptr;
  void* second = nullptr;
  int size = 0;
  ASSERT_TRUE(stream.Next(&first, &size));
  EXPECT_EQ(size, static_cast<int>(BlockPool::kSmall));
  std::memcpy(first, "abc", 3);
  stream.BackUp(size - 3);
  EXPECT_EQ(stream.ByteCount(), 3);
  ASSERT_TRUE(stream.Next(&second, &size));
  EXPECT_EQ(second, static_cast<char*>(first) + 3);
  EXPECT_EQ(size, static_cast<int>(BlockPool::kSmall) - 3);
  stream.BackUp(size);
  EXPECT_EQ(stream.Take().ToString(), "abc");
}

TEST(BlockOutputStreamTest, FailsAtThePoolsLimitAndGivesTheBlocksBack) {
  const auto pool = NewPool(3);
  google::protobuf::BytesValue message;
  message.set_value(std::string(4 * kRegion, 'x'));
  {
    BlockOutputStream stream(*pool, message.ByteSizeLong());
    EXPECT_FALSE(message.SerializeToZeroCopyStream(&stream));
    EXPECT_EQ(pool->stats().used_bytes, 3 * kRegion);
  }
  EXPECT_EQ(pool->stats().used_bytes, 0u);
}

TEST(BlockOutputStreamDeathTest, RefusesToBackUpMoreThanItGave) {
  const auto pool = NewPool(3);
  BlockOutputStream stream(*pool, 10);
  EXPECT_DEATH(stream.BackUp(1), "backs up at most");
  void* data = nullptr;
  int size = 0;
  ASSERT_TRUE(stream.Next(&data, &size));
  EXPECT_DEATH(stream.BackUp(size + 1), "backs up at most");
  EXPECT_DEATH(stream.BackUp(-1), "backs up at most");
}

}  // namespace
}  // namespace farcall
