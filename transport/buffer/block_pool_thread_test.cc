// SPDX-License-Identifier: Apache-2.0
//
// BlockPool with several threads.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "transport/base/check.h"
#include "transport/buffer/block_pool.h"

namespace farcall {
namespace {

constexpr size_t kRegion = size_t{2} << 20;
constexpr auto kTimeout = std::chrono::seconds(10);
constexpr size_t kSmallBlocks = kRegion / BlockPool::kSmall;

// A region for each class.
std::unique_ptr<BlockPool> NewTinyPool(size_t regions = 3) {
  auto pool = BlockPool::Create({.region_bytes = kRegion, .max_bytes = regions * kRegion});
  Check(pool.ok(), "the options are valid");
  return *std::move(pool);
}

std::vector<BlockRef> AllocateAll(BlockPool& pool, size_t bytes) {
  std::vector<BlockRef> blocks;
  while (BlockRef block = pool.Allocate(bytes)) blocks.push_back(std::move(block));
  return blocks;
}

void RunInThreads(size_t count, const std::function<void(size_t)>& body) {
  std::vector<std::thread> threads;
  for (size_t i = 0; i < count; ++i) threads.emplace_back(body, i);
  for (std::thread& thread : threads) thread.join();
}

// Bounded hand-over from one thread to another.
class Pipe {
 public:
  explicit Pipe(size_t limit) : limit_(limit) {}

  void Put(BlockRef block) {
    std::unique_lock lock(mutex_);
    Check(changed_.wait_for(lock, kTimeout, [&] { return blocks_.size() < limit_; }),
          "the other side takes");
    blocks_.push_back(std::move(block));
    changed_.notify_all();
  }
  BlockRef Take() {
    std::unique_lock lock(mutex_);
    Check(changed_.wait_for(lock, kTimeout, [&] { return !blocks_.empty(); }),
          "the other side puts");
    BlockRef block = std::move(blocks_.front());
    blocks_.pop_front();
    changed_.notify_all();
    return block;
  }

 private:
  const size_t limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<BlockRef> blocks_;
};

TEST(BlockPoolThreadTest, FindsBlocksThatOtherThreadsFreed) {
  const auto pool = NewTinyPool();
  for (const size_t bytes : {BlockPool::kSmall, BlockPool::kMedium, BlockPool::kLarge}) {
    std::vector<BlockRef> blocks = AllocateAll(*pool, bytes);
    const size_t all = blocks.size();
    ASSERT_EQ(all, kRegion / bytes);
    std::mutex mutex;
    RunInThreads(8, [&](size_t) {
      for (;;) {
        const std::lock_guard lock(mutex);
        if (blocks.empty()) return;
        blocks.pop_back();
      }
    });
    EXPECT_EQ(AllocateAll(*pool, bytes).size(), all);
  }
}

// One thread only allocates and the other only frees: batches keep both going.
TEST(BlockPoolThreadTest, AllocatorAndFreerDoNotStarve) {
  constexpr int kBlocks = 20'000;
  const auto pool = NewTinyPool();
  Pipe pipe(kSmallBlocks / 2);
  std::atomic<int> failed{0};
  RunInThreads(2, [&](size_t i) {
    for (int n = 0; n < kBlocks; ++n) {
      if (i == 1) {
        pipe.Take();
        continue;
      }
      BlockRef block = pool->Allocate(1);
      if (!block) ++failed;
      pipe.Put(std::move(block));
    }
  });
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(pool->stats().used_bytes, 0u);
  EXPECT_EQ(pool->stats().allocations, static_cast<uint64_t>(kBlocks));
}

// Each thread keeps to its share of all blocks, so one is always free for it.
TEST(BlockPoolThreadTest, NeverFailsWhileABlockIsFree) {
  constexpr size_t kThreads = 8;
  constexpr size_t kShare = kSmallBlocks / kThreads;
  const auto pool = NewTinyPool();
  std::atomic<int> failed{0};
  RunInThreads(kThreads, [&](size_t i) {
    std::mt19937 random(static_cast<uint32_t>(i));
    std::vector<BlockRef> mine;
    for (int round = 0; round < 300; ++round) {
      const size_t wanted = random() % (kShare + 1);
      while (mine.size() > wanted) mine.pop_back();
      while (mine.size() < wanted) {
        mine.push_back(pool->Allocate(1));
        failed += mine.back() ? 0 : 1;
      }
    }
  });
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(pool->stats().used_bytes, 0u);
}

TEST(BlockPoolThreadTest, NobodyElseWritesToABlockInUse) {
  const auto pool = NewTinyPool(6);
  std::atomic<int> mixed{0};
  RunInThreads(4, [&](size_t i) {
    std::mt19937 random(static_cast<uint32_t>(i));
    const char mark = static_cast<char>('a' + i);
    std::vector<BlockRef> mine;
    for (int round = 0; round < 4000; ++round) {
      if (!mine.empty() && (random() % 2 == 0 || mine.size() > 20)) {
        const BlockRef block = std::move(mine.back());
        mine.pop_back();
        if (block->bytes()[0] != mark || block->bytes()[block->capacity - 1] != mark) ++mixed;
      } else if (BlockRef block = pool->Allocate(random() % 3 == 0 ? BlockPool::kMedium : 1)) {
        block->bytes()[0] = mark;
        block->bytes()[block->capacity - 1] = mark;
        mine.push_back(std::move(block));
      }
    }
  });
  EXPECT_EQ(mixed, 0);
  EXPECT_EQ(pool->stats().used_bytes, 0u);
}

// Threads that meet a class without a block at once map no more than is needed.
TEST(BlockPoolThreadTest, ThreadsThatGrowTogetherMapOneRegion) {
  for (int round = 0; round < 20; ++round) {
    const auto pool = NewTinyPool(16);
    std::atomic<int> failed{0};
    RunInThreads(4, [&](size_t) { failed += pool->Allocate(1) ? 0 : 1; });
    EXPECT_EQ(failed, 0);
    EXPECT_EQ(pool->stats().region_bytes, kRegion);
  }
}

TEST(BlockPoolThreadTest, ExhaustionIsCountedOnceForEachCall) {
  const auto pool = NewTinyPool();
  std::atomic<uint64_t> got{0};
  std::atomic<uint64_t> failed{0};
  RunInThreads(4, [&](size_t) {
    std::vector<BlockRef> mine;
    for (int i = 0; i < 100; ++i) {
      mine.push_back(pool->Allocate(1));
      ++(mine.back() ? got : failed);
    }
  });
  EXPECT_EQ(got + failed, 400u);
  EXPECT_EQ(pool->stats().allocations, got);
  EXPECT_EQ(pool->stats().exhausted, failed);
}

TEST(BlockPoolThreadTest, StatsMayBeReadAtAnyTime) {
  const auto pool = NewTinyPool();
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    while (!stop) {
      EXPECT_LE(pool->stats().used_bytes, size_t{3} * 2 * BlockPool::kSmall);
      std::this_thread::yield();  // it holds every lock most of the time
    }
  });
  RunInThreads(3, [&](size_t) {
    for (int i = 0; i < 5000; ++i) {
      const BlockRef one = pool->Allocate(1);
      const BlockRef two = pool->Allocate(1);
    }
  });
  stop = true;
  reader.join();
}

}  // namespace
}  // namespace farcall
