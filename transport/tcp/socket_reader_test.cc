// SPDX-License-Identifier: Apache-2.0

#include "transport/tcp/socket_reader.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "transport/tcp/testing/socket_pair.h"

namespace farcall {
namespace {

constexpr size_t kPlenty = size_t{1} << 20;

class SocketReaderTest : public testing::Test {
 protected:
  SocketReaderTest() : pair_(SocketPair::Unix()), pool_(NewPool()), reader_(*pool_) {}

  static std::unique_ptr<BlockPool> NewPool() {
    BlockPoolOptions options;
    options.region_bytes = size_t{2} << 20;
    options.max_bytes = size_t{16} << 20;
    return *BlockPool::Create(options);
  }
  void Send(absl::string_view bytes) {
    ASSERT_EQ(SendSome(pair_.other.get(), bytes), bytes.size());
  }
  SocketResult Read(size_t limit = kPlenty) { return reader_.Read(pair_.mine.get(), limit); }
  Buffer TakeAll() { return reader_.input().CutFront(reader_.input().size()); }

  SocketPair pair_;
  std::unique_ptr<BlockPool> pool_;
  SocketReader reader_;
};

TEST_F(SocketReaderTest, TellsDataNothingAndEnd) {
  EXPECT_EQ(Read().progress, SocketProgress::kBlocked);
  Send("hello");
  const SocketResult result = Read();
  EXPECT_EQ(result.progress, SocketProgress::kBlocked);
  EXPECT_EQ(result.bytes, 5u);
  EXPECT_EQ(reader_.input().ToString(), "hello");
  pair_.other.Reset();
  EXPECT_EQ(Read().progress, SocketProgress::kEnd);
  EXPECT_EQ(reader_.input().ToString(), "hello");
}

TEST_F(SocketReaderTest, ErrorsAreTold) {
  const SocketResult result = reader_.Read(-1, kPlenty);
  EXPECT_EQ(result.progress, SocketProgress::kFailed);
  EXPECT_EQ(result.error, EBADF);
}

TEST_F(SocketReaderTest, NeverReadsBeyondTheLimit) {
  Send(std::string(1000, 'x'));
  const SocketResult result = Read(10);
  EXPECT_EQ(result.progress, SocketProgress::kMore);
  EXPECT_EQ(result.bytes, 10u);
}

TEST_F(SocketReaderTest, MessagesThatAreKeptShareABlock) {
  std::vector<Buffer> kept;
  for (int i = 0; i < 100; ++i) {
    Send(std::string(40, static_cast<char>('a' + i % 26)));
    Read();
    kept.push_back(TakeAll());
    reader_.Expect(0);
  }
  EXPECT_EQ(pool_->stats().used_bytes, BlockPool::kSmall);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(kept[static_cast<size_t>(i)].ToString(),
              std::string(40, static_cast<char>('a' + i % 26)));
  }
}

TEST_F(SocketReaderTest, ABlockIsUsedFromItsBeginningOnceItIsFree) {
  const Block* block = nullptr;
  for (int i = 0; i < 1000; ++i) {
    Send(std::string(3000, 'x'));
    Read();
    const Buffer message = TakeAll();
    ASSERT_EQ(message.slices().size(), 1u);
    if (block == nullptr) block = message.slices()[0].block.get();
    EXPECT_EQ(message.slices()[0].block.get(), block);
    EXPECT_EQ(message.slices()[0].offset, 0u);
  }
}

TEST_F(SocketReaderTest, ALargeMessageComesInFewLargeBlocks) {
  const size_t size = size_t{1} << 20;
  const std::string bytes(size, 'L');
  size_t sent = 0;
  int reads = 0;
  while (reader_.input().size() < size) {
    sent += SendSome(pair_.other.get(), absl::string_view(bytes).substr(sent));
    Read(size_t{256} << 10);
    reader_.Expect(size);
    ASSERT_LT(++reads, 1000);
  }
  const Buffer message = TakeAll();
  EXPECT_EQ(message.size(), size);
  EXPECT_LE(message.slices().size(), 20u);
}

TEST_F(SocketReaderTest, WhatFollowsALargeMessagePinsNoLargeBlock) {
  const size_t size = size_t{100} << 10;
  Send(std::string(size_t{16} << 10, 'L'));
  Read();
  reader_.Expect(size);
  while (Read().bytes > 0) reader_.Expect(size);
  Send(std::string(size - reader_.input().size(), 'L') + "small");
  while (Read().bytes > 0) reader_.Expect(size);
  ASSERT_EQ(reader_.input().size(), size + 5);
  Buffer large = reader_.input().CutFront(size);
  const Buffer small = TakeAll();
  reader_.Expect(0);
  uint32_t largest = 0;
  for (const Buffer::Slice& slice : large.slices()) {
    largest = std::max(largest, slice.block->capacity);
  }
  EXPECT_EQ(largest, BlockPool::kMedium);
  ASSERT_EQ(small.slices().size(), 1u);
  EXPECT_EQ(small.slices()[0].block->capacity, BlockPool::kSmall);
  EXPECT_EQ(small.ToString(), "small");
  large.Clear();
  EXPECT_LE(pool_->stats().used_bytes, 2 * BlockPool::kSmall);
}

// Who keeps a message keeps whole blocks.
TEST_F(SocketReaderTest, AMessageLeavesLittleOfItsBlocksUnused) {
  for (const size_t size : {17, 20, 24, 25, 31, 33, 39, 41, 49, 70, 90, 105, 200, 3000}) {
    // As it may come: at once, and in pieces.
    for (const size_t piece : {size_t{1} << 20, size_t{5000}}) {
      SCOPED_TRACE(absl::StrCat(size, " KiB by ", piece));
      const std::string bytes(size << 10, 'm');
      size_t sent = 0;
      while (reader_.input().size() < bytes.size()) {
        sent += SendSome(pair_.other.get(), absl::string_view(bytes).substr(sent, piece));
        Read(size_t{256} << 10);
        reader_.Expect(bytes.size());
      }
      const Buffer message = TakeAll();
      reader_.Expect(0);
      size_t pinned = 0;
      for (const Buffer::Slice& slice : message.slices()) pinned += slice.block->capacity;
      EXPECT_LT(pinned, 2 * message.size());
    }
  }
}

TEST_F(SocketReaderTest, AnAnnouncementAloneGetsNoLargeBlock) {
  Send("I shall send 64 MiB");
  Read();
  reader_.Expect(size_t{64} << 20);
  Send("x");
  Read();
  EXPECT_LE(pool_->stats().used_bytes, 2 * BlockPool::kSmall);
}

TEST_F(SocketReaderTest, AnIdleConnectionKeepsOneSmallBlockAtMostAndAtRestNone) {
  Read();
  EXPECT_EQ(pool_->stats().used_bytes, 0u);
  for (const size_t bytes : {size_t{40}, size_t{5000}, size_t{100} << 10}) {
    for (int i = 0; i < 20; ++i) {
      Send(std::string(bytes, 'x'));
      while (Read().bytes > 0) TakeAll();
      reader_.Expect(0);
      EXPECT_LE(pool_->stats().used_bytes, BlockPool::kSmall);
      reader_.Rest();
      EXPECT_EQ(pool_->stats().used_bytes, 0u);
    }
  }
}

TEST_F(SocketReaderTest, AnIdleConnectionWhoseLastMessageIsKeptHasNoMoreThanThat) {
  Send(std::string(5000, 'x'));
  Read();
  Buffer kept = TakeAll();
  reader_.Expect(0);
  reader_.Rest();
  EXPECT_EQ(pool_->stats().used_bytes, BlockPool::kSmall);
  kept.Clear();
  EXPECT_EQ(pool_->stats().used_bytes, 0u);
}

TEST_F(SocketReaderTest, ClearDropsEachBlock) {
  Send("part");
  Read();
  reader_.Expect(100);
  EXPECT_EQ(pool_->stats().used_bytes, BlockPool::kSmall);
  reader_.Clear();
  EXPECT_EQ(pool_->stats().used_bytes, 0u);
}

TEST_F(SocketReaderTest, ReadsGrowWithWhatComesAndShrinkAgain) {
  // As much as a socket holds, so that reads are full.
  for (int i = 0; i < 10; ++i) {
    Send(std::string(size_t{64} << 10, 'x'));
    while (Read().progress == SocketProgress::kMore) {
    }
    TakeAll();
  }
  Send(std::string(size_t{64} << 10, 'x'));
  EXPECT_GE(Read().bytes, size_t{56} << 10);
  TakeAll();
  for (int i = 0; i < 10; ++i) {
    Send("x");
    Read();
    TakeAll();
  }
  Send(std::string(size_t{64} << 10, 'x'));
  EXPECT_LE(Read().bytes, size_t{16} << 10);
}

TEST_F(SocketReaderTest, AnEmptyPoolIsTold) {
  std::vector<BlockRef> hog;
  while (BlockRef block = pool_->Allocate(BlockPool::kSmall)) hog.push_back(std::move(block));
  Send("hello");
  EXPECT_EQ(Read().progress, SocketProgress::kNoMemory);
  hog.pop_back();
  EXPECT_EQ(Read().bytes, 5u);
}

TEST_F(SocketReaderTest, DiscardReadsForNobody) {
  Send(std::string(20000, 'x'));
  EXPECT_EQ(SocketReader::Discard(pair_.mine.get(), 100).progress, SocketProgress::kMore);
  size_t rest = 0;
  for (;;) {
    const SocketResult result = SocketReader::Discard(pair_.mine.get(), kPlenty);
    rest += result.bytes;
    if (result.progress == SocketProgress::kBlocked) break;
  }
  EXPECT_EQ(rest, 19900u);
  pair_.other.Reset();
  EXPECT_EQ(SocketReader::Discard(pair_.mine.get(), kPlenty).progress, SocketProgress::kEnd);
  EXPECT_EQ(SocketReader::Discard(-1, kPlenty).error, EBADF);
}

}  // namespace
}  // namespace farcall
