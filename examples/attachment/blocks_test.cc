// SPDX-License-Identifier: Apache-2.0

#include "examples/attachment/blocks.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace example {
namespace {

using farcall::Buffer;

class BlocksTest : public testing::Test {
 protected:
  std::string Read(const Blocks& blocks, uint64_t first, uint32_t count) {
    Buffer bytes;
    const absl::Status status = blocks.Read(first, count, bytes);
    EXPECT_TRUE(status.ok()) << status;
    return bytes.ToString();
  }

  std::unique_ptr<farcall::BlockPool> pool_ =
      *farcall::BlockPool::Create({.region_bytes = size_t{2} << 20, .max_bytes = size_t{8} << 20});
};

TEST_F(BlocksTest, AreZeroUntilTheyAreWritten) {
  Blocks blocks(100, 512, *pool_);
  EXPECT_EQ(Read(blocks, 99, 1), std::string(512, '\0'));
  ASSERT_TRUE(blocks.Write(50, Buffer(std::string(1024, 'x'))).ok());
  EXPECT_EQ(Read(blocks, 49, 4),
            std::string(512, '\0') + std::string(1024, 'x') + std::string(512, '\0'));
}

TEST_F(BlocksTest, AWriteInManyPiecesIsWritten) {
  Blocks blocks(10, 4096, *pool_);
  Buffer bytes;
  for (int i = 0; i < 8; ++i) bytes.Append(std::string(1024, static_cast<char>('a' + i)));
  const std::string expected = bytes.ToString();
  ASSERT_TRUE(blocks.Write(3, std::move(bytes)).ok());
  EXPECT_EQ(Read(blocks, 3, 2), expected);
}

TEST_F(BlocksTest, WhatWasReadStaysAsItWas) {
  Blocks blocks(10, 4096, *pool_);
  ASSERT_TRUE(blocks.Write(0, Buffer(std::string(4096, 'a'))).ok());
  Buffer read;
  ASSERT_TRUE(blocks.Read(0, 1, read).ok());
  ASSERT_TRUE(blocks.Write(0, Buffer(std::string(4096, 'b'))).ok());
  EXPECT_EQ(read.ToString(), std::string(4096, 'a'));
  EXPECT_EQ(Read(blocks, 0, 1), std::string(4096, 'b'));
}

TEST_F(BlocksTest, WhatIsNotThereIsRefused) {
  Blocks blocks(1000, 512, *pool_);
  Buffer bytes;
  EXPECT_EQ(blocks.Read(1000, 1, bytes).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(blocks.Read(999, 2, bytes).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(blocks.Read(UINT64_MAX, 1, bytes).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(blocks.Read(0, 0, bytes).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(blocks.Read(0, Blocks::kMostBlocks + 1, bytes).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(bytes.empty());
  EXPECT_EQ(blocks.Write(0, Buffer()).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(blocks.Write(0, Buffer(std::string(511, 'x'))).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(blocks.Write(999, Buffer(std::string(1024, 'x'))).code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Read(blocks, 0, 1), std::string(512, '\0')) << "nothing was written";
}

// Writing again and again holds no more memory than the blocks, and what a writer has begun.
TEST_F(BlocksTest, WhatIsReplacedIsGivenBack) {
  Blocks blocks(64, 4096, *pool_);
  for (int round = 0; round < 200; ++round) {
    for (uint64_t block = 0; block < 64; ++block) {
      const absl::Status status = blocks.Write(block, Buffer(std::string(4096, 'x')));
      ASSERT_TRUE(status.ok()) << status << " in round " << round;
    }
  }
}

TEST_F(BlocksTest, APoolAtItsLimitIsAnError) {
  Blocks blocks(10'000, 4096, *pool_);
  absl::Status status;
  for (uint64_t block = 0; block < 10'000 && status.ok(); ++block) {
    status = blocks.Write(block, Buffer(std::string(4096, 'x')));
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(BlocksTest, ThreadsSeeWholeBlocks) {
  Blocks blocks(8, 4096, *pool_);
  std::atomic<int> torn{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (uint64_t i = 0; i < 1000; ++i) {
        if (!blocks.Write(i % 8, Buffer(std::string(4096, static_cast<char>('a' + thread)))).ok()) {
          ++torn;
        }
        Buffer bytes;
        if (!blocks.Read((i + 3) % 8, 1, bytes).ok()) ++torn;
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
