// SPDX-License-Identifier: Apache-2.0

#include "examples/attachment/blocks.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace example {
namespace {

using farcall::Buffer;

class BlocksTest : public testing::Test {
 protected:
  static std::unique_ptr<farcall::Runtime> NewRuntime() {
    farcall::RuntimeOptions options;
    options.event_loops = 1;
    return *farcall::Runtime::Create(options);
  }
  std::unique_ptr<Blocks> Make(uint64_t count, uint32_t block_bytes) {
    return *Blocks::Create(*runtime_, count, block_bytes);
  }
  // As a connection does: into the memory that was reserved.
  static void Fill(const Buffer& slots, char fill) {
    for (const Buffer::Slice& slice : slots.slices()) {
      std::fill_n(slice.block->bytes() + slice.offset, slice.length, fill);
    }
  }
  static absl::Status Write(Blocks& blocks, uint64_t first, size_t bytes, char fill) {
    const auto slots = blocks.Reserve(first, bytes);
    if (!slots.ok()) return slots.status();
    Fill(*slots, fill);
    EXPECT_TRUE(blocks.Commit(first, *slots));
    return absl::OkStatus();
  }
  static std::string Read(const Blocks& blocks, uint64_t first, uint32_t count) {
    Buffer bytes;
    const absl::Status status = blocks.Read(first, count, bytes);
    EXPECT_TRUE(status.ok()) << status;
    return bytes.ToString();
  }

  const std::unique_ptr<farcall::Runtime> runtime_ = NewRuntime();
};

TEST_F(BlocksTest, AreZeroUntilTheyAreWritten) {
  const auto blocks = Make(100, 512);
  EXPECT_EQ(Read(*blocks, 99, 1), std::string(512, '\0'));
  ASSERT_TRUE(Write(*blocks, 50, 1024, 'x').ok());
  EXPECT_EQ(Read(*blocks, 49, 4),
            std::string(512, '\0') + std::string(1024, 'x') + std::string(512, '\0'));
}

TEST_F(BlocksTest, BytesThatLieElsewhereAreNoSlots) {
  const auto blocks = Make(100, 512);
  const size_t free = blocks->free_slots();
  EXPECT_FALSE(blocks->Commit(50, Buffer(std::string(512, 'x'))));
  EXPECT_EQ(Read(*blocks, 50, 1), std::string(512, '\0'));
  EXPECT_EQ(blocks->free_slots(), free);
}

TEST_F(BlocksTest, WhatWasReadStaysAsItWas) {
  const auto blocks = Make(10, 4096);
  ASSERT_TRUE(Write(*blocks, 0, 4096, 'a').ok());
  Buffer read;
  ASSERT_TRUE(blocks->Read(0, 1, read).ok());
  for (int i = 0; i < 5000; ++i) ASSERT_TRUE(Write(*blocks, 0, 4096, 'b').ok());
  EXPECT_EQ(read.ToString(), std::string(4096, 'a'));
  EXPECT_EQ(Read(*blocks, 0, 1), std::string(4096, 'b'));
}

// Of a connection over RDMA that broke: its queue pair goes after the server.
TEST_F(BlocksTest, WhatWasReadMayOutliveThem) {
  auto blocks = Make(10, 4096);
  ASSERT_TRUE(Write(*blocks, 0, 8192, 'a').ok());
  Buffer read;
  ASSERT_TRUE(blocks->Read(0, 2, read).ok());
  blocks = nullptr;
  EXPECT_EQ(read.ToString(), std::string(8192, 'a'));
  read.Clear();
}

TEST_F(BlocksTest, AWriteThatBreaksOffChangesNothing) {
  const auto blocks = Make(10, 4096);
  ASSERT_TRUE(Write(*blocks, 0, 8192, 'a').ok());
  const size_t free = blocks->free_slots();
  {
    const auto slots = blocks->Reserve(0, 8192);
    ASSERT_TRUE(slots.ok());
    Fill(*slots, 'b');
    blocks->Release(*slots);
  }
  EXPECT_EQ(Read(*blocks, 0, 2), std::string(8192, 'a'));
  EXPECT_EQ(blocks->free_slots(), free);
}

TEST_F(BlocksTest, WhatIsNotThereIsRefused) {
  const auto blocks = Make(1000, 512);
  Buffer bytes;
  EXPECT_EQ(blocks->Read(1000, 1, bytes).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(blocks->Read(999, 2, bytes).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(blocks->Read(UINT64_MAX, 1, bytes).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(blocks->Read(0, 0, bytes).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(blocks->Read(0, Blocks::kMaxBlocks + 1, bytes).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(bytes.empty());
  EXPECT_EQ(blocks->Reserve(0, 0).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(blocks->Reserve(0, 511).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(blocks->Reserve(999, 1024).status().code(), absl::StatusCode::kOutOfRange);
}

TEST_F(BlocksTest, WhatIsReplacedIsFreeOnceNothingSendsIt) {
  const auto blocks = Make(64, 4096);
  for (uint64_t block = 0; block < 64; ++block) {
    ASSERT_TRUE(Write(*blocks, block, 4096, 'x').ok());
  }
  const size_t free = blocks->free_slots();
  std::vector<Buffer> sent(64);
  for (uint64_t block = 0; block < 64; ++block) {
    ASSERT_TRUE(blocks->Read(block, 1, sent[block]).ok());
    ASSERT_TRUE(Write(*blocks, block, 4096, 'y').ok());
  }
  EXPECT_EQ(blocks->free_slots(), free - 64);
  sent.clear();
  EXPECT_EQ(blocks->free_slots(), free);
}

TEST_F(BlocksTest, TooMuchAtOnceIsAnError) {
  const auto blocks = Make(256, 4096);
  std::vector<Buffer> reserved;
  absl::Status status;
  while (status.ok()) {
    auto slots = blocks->Reserve(0, 256 * 4096);
    status = slots.status();
    if (slots.ok()) reserved.push_back(*std::move(slots));
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  for (const Buffer& slots : reserved) blocks->Release(slots);
  EXPECT_TRUE(Write(*blocks, 0, 256 * 4096, 'x').ok());
}

TEST_F(BlocksTest, ThreadsSeeWholeBlocks) {
  const auto blocks = Make(8, 4096);
  std::atomic<int> torn{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (uint64_t i = 0; i < 1000; ++i) {
        if (!Write(*blocks, i % 8, 4096, static_cast<char>('a' + thread)).ok()) ++torn;
        Buffer bytes;
        if (!blocks->Read((i + 3) % 8, 1, bytes).ok()) ++torn;
        const std::string text = bytes.ToString();
        if (text.find_first_not_of(text.front()) != std::string::npos) ++torn;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(torn, 0);
}

}  // namespace
}  // namespace example
