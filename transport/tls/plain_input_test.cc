// SPDX-License-Identifier: Apache-2.0

#include "transport/tls/plain_input.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "gtest/gtest.h"

namespace farcall {
namespace {

class PlainInputTest : public testing::Test {
 protected:
  // What a decryption of `bytes` does.
  void Put(const std::string& bytes) {
    for (size_t at = 0; at < bytes.size();) {
      const std::span<char> room = plain_.Room();
      ASSERT_FALSE(room.empty());
      const size_t part = std::min(room.size(), bytes.size() - at);
      std::memcpy(room.data(), bytes.data() + at, part);
      plain_.Filled(part);
      at += part;
    }
  }

  std::unique_ptr<BlockPool> pool_ = *BlockPool::Create(BlockPoolOptions());
  PlainInput plain_{*pool_};
};

TEST_F(PlainInputTest, SmallMessagesShareABlockAndNoneIsKeptAtRest) {
  for (int i = 0; i < 10; ++i) Put("hello");
  EXPECT_EQ(plain_.input().ToString().size(), 50u);
  EXPECT_EQ(plain_.input().slices().size(), 1u);
  EXPECT_EQ(pool_->stats().used_bytes, BlockPool::kSmall);
  plain_.input().Clear();
  plain_.Expect(0);
  EXPECT_EQ(pool_->stats().used_bytes, 0u);
}

TEST_F(PlainInputTest, BytesThatSomebodyKeepsDoNotChange) {
  Put("kept");
  const Buffer kept = plain_.input().CutFront(4);
  plain_.Expect(0);
  Put("others");
  EXPECT_EQ(kept.ToString(), "kept");
  EXPECT_EQ(plain_.input().ToString(), "others");
}

TEST_F(PlainInputTest, ALargeMessageGetsLargeBlocksOnceAnEighthIsThere) {
  const size_t size = size_t{300} << 10;
  Put(std::string(1000, 'a'));
  plain_.Expect(size);
  Put(std::string(7000, 'a'));
  EXPECT_EQ(pool_->stats().used_bytes, BlockPool::kSmall);
  Put(std::string(8000, 'a'));
  plain_.Expect(size);
  Put(std::string(size - 16000, 'b'));
  EXPECT_EQ(plain_.input().size(), size);
  EXPECT_LE(plain_.input().slices().size(), 12u);
}

// Or its block would pin 64 KiB for a few bytes.
TEST_F(PlainInputTest, WhatFollowsALargeMessageStandsInASmallBlock) {
  const size_t size = size_t{100} << 10;
  Put(std::string(16000, 'a'));
  plain_.Expect(size);
  Put(std::string(size - 16000, 'b'));
  Put("next");
  plain_.input().RemoveFront(size);
  plain_.Expect(0);
  EXPECT_EQ(plain_.input().ToString(), "next");
  EXPECT_EQ(pool_->stats().used_bytes, BlockPool::kSmall);
}

// Who keeps a message keeps whole blocks.
TEST_F(PlainInputTest, AMessageLeavesLittleOfItsBlocksUnused) {
  for (const size_t size : {17, 20, 25, 31, 33, 39, 41, 49, 70, 90, 105, 200, 3000}) {
    SCOPED_TRACE(size);
    const std::string bytes(size << 10, 'm');
    for (size_t at = 0; at < bytes.size(); at += 5000) {
      Put(bytes.substr(at, 5000));
      plain_.Expect(bytes.size());
    }
    const Buffer message = plain_.input().CutFront(bytes.size());
    plain_.Expect(0);
    size_t pinned = 0;
    for (const Buffer::Slice& slice : message.slices()) pinned += slice.block->capacity;
    EXPECT_LT(pinned, 2 * message.size());
  }
}

TEST_F(PlainInputTest, APeerThatOnlyAnnouncesMuchGetsASmallBlock) {
  Put("header");
  plain_.Expect(size_t{1} << 30);
  EXPECT_LE(plain_.Room().size(), BlockPool::kSmall);
}

TEST_F(PlainInputTest, WithoutMemoryThereIsNoRoom) {
  std::vector<BlockRef> all;
  while (BlockRef block = pool_->Allocate(BlockPool::kSmall)) all.push_back(std::move(block));
  EXPECT_TRUE(plain_.Room().empty());
  all.pop_back();
  EXPECT_FALSE(plain_.Room().empty());
}

TEST_F(PlainInputTest, ClearDropsEverything) {
  Put(std::string(16000, 'a'));
  plain_.Expect(size_t{1} << 20);
  static_cast<void>(plain_.Room());
  plain_.Clear();
  EXPECT_EQ(pool_->stats().used_bytes, 0u);
}

}  // namespace
}  // namespace farcall
