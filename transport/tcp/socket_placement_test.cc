// SPDX-License-Identifier: Apache-2.0
//
// Reads into memory that is not the pool's.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "transport/tcp/socket_reader.h"
#include "transport/tcp/testing/socket_pair.h"

namespace farcall {
namespace {

constexpr size_t kPlenty = size_t{1} << 20;

class SocketPlacementTest : public testing::Test {
 protected:
  static std::unique_ptr<BlockPool> NewPool() {
    return *BlockPool::Create({.region_bytes = size_t{2} << 20, .max_bytes = size_t{8} << 20});
  }
  void Send(absl::string_view bytes) {
    ASSERT_EQ(SendSome(pair_.other.get(), bytes), bytes.size());
  }
  static Buffer Over(std::string& memory, size_t piece) {
    Buffer buffer;
    for (size_t at = 0; at < memory.size(); at += piece) {
      buffer.AppendUserData(&memory[at], std::min(piece, memory.size() - at), nullptr);
    }
    return buffer;
  }
  SocketResult Read(const Buffer& target, size_t limit = kPlenty) {
    return reader_.Read(pair_.mine.get(), limit, target);
  }

  SocketPair pair_ = SocketPair::Unix();
  std::unique_ptr<BlockPool> pool_ = NewPool();
  SocketReader reader_{*pool_};
};

TEST_F(SocketPlacementTest, TheFirstBytesGoThereAndTheRestIntoBlocks) {
  Send("head");
  Read({});
  reader_.Expect(10);
  EXPECT_EQ(reader_.missing(), 6u);
  std::string memory(6, '.');
  Send("attachnext");
  EXPECT_EQ(Read(Over(memory, 6)).bytes, 10u);
  EXPECT_EQ(memory, "attach");
  EXPECT_EQ(reader_.input().ToString(), "headattachnext");
  const auto slices = reader_.input().slices();
  ASSERT_EQ(slices.size(), 3u);
  EXPECT_EQ(slices[1].view().data(), memory.data());
}

TEST_F(SocketPlacementTest, WhatCameInPartGoesOnWhereItEnded) {
  Send("h");
  Read({});
  reader_.Expect(9);
  std::string memory(8, '.');
  const Buffer all = Over(memory, 8);
  Send("abc");
  Read(all);
  EXPECT_EQ(memory, "abc.....");
  Send("defgh");
  reader_.Expect(9);
  Buffer rest = all.Share();
  rest.RemoveFront(3);
  Read(rest);
  EXPECT_EQ(memory, "abcdefgh");
  EXPECT_EQ(reader_.input().slices().size(), 2u) << "one piece of the memory";
}

TEST_F(SocketPlacementTest, NothingIsReadThereWithoutBytes) {
  std::string memory(6, '.');
  reader_.Expect(6);
  EXPECT_EQ(Read(Over(memory, 2)).progress, SocketProgress::kBlocked);
  EXPECT_EQ(memory, "......");
  EXPECT_TRUE(reader_.input().empty());
}

TEST_F(SocketPlacementTest, ManyPiecesTakeSeveralReads) {
  reader_.Expect(200);
  std::string memory(200, '.');
  std::string sent;
  for (int i = 0; i < 200; ++i) sent.push_back(static_cast<char>('a' + i % 26));
  Send(sent);
  Buffer left = Over(memory, 3);
  // More than one system call takes: the others go into blocks, or into the next call.
  Read(left, 45);
  EXPECT_EQ(memory.substr(0, 45), sent.substr(0, 45));
  left.RemoveFront(45);
  Read(left);
  EXPECT_EQ(reader_.input().ToString(), sent);
  EXPECT_EQ(memory.substr(45, 45), sent.substr(45, 45));
}

TEST_F(SocketPlacementTest, NeedsNoBlockOfThePool) {
  std::vector<BlockRef> all;
  for (const size_t size : {BlockPool::kSmall, BlockPool::kMedium, BlockPool::kLarge}) {
    while (BlockRef block = pool_->Allocate(size)) all.push_back(std::move(block));
  }
  Send("abcdef");
  std::string memory(6, '.');
  EXPECT_EQ(Read({}).progress, SocketProgress::kNoMemory);
  reader_.Expect(6);
  EXPECT_EQ(Read(Over(memory, 6)).bytes, 6u);
  EXPECT_EQ(memory, "abcdef");
  reader_.Clear();
}

TEST_F(SocketPlacementTest, ALargeMessageTakesNoLargeBlock) {
  const std::string sent(size_t{256} << 10, 'x');
  std::string memory(sent.size(), '.');
  Buffer left = Over(memory, memory.size());
  reader_.Expect(sent.size());
  size_t written = 0;
  while (!left.empty()) {
    if (written < sent.size()) {
      written += SendSome(pair_.other.get(), absl::string_view(sent).substr(written));
    }
    const SocketResult result = Read(left);
    left.RemoveFront(result.bytes);
    reader_.Expect(sent.size());
  }
  EXPECT_EQ(memory, sent);
  EXPECT_LE(pool_->stats().used_bytes, BlockPool::kSmall);
  EXPECT_EQ(reader_.input().slices().size(), 1u);
}

}  // namespace
}  // namespace farcall
