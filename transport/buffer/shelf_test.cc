// SPDX-License-Identifier: Apache-2.0

#include "transport/buffer/shelf.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace farcall {
namespace {

class ShelfTest : public testing::Test {
 protected:
  static constexpr size_t kBatch = 4;

  // Puts `count` fresh blocks on the shared list.
  void Fill(size_t count) {
    blocks_ = std::make_unique<Block[]>(count);
    for (size_t i = 0; i + 1 < count; ++i) blocks_[i].next = &blocks_[i + 1];
    shelf_.Add(blocks_[0], blocks_[count - 1], count);
  }

  std::vector<Block*> TakeAll() {
    std::vector<Block*> taken;
    while (Block* const block = shelf_.Take()) taken.push_back(block);
    return taken;
  }

  std::unique_ptr<Block[]> blocks_;
  Shelf shelf_{kBatch};
};

TEST_F(ShelfTest, AnEmptyShelfGivesNothing) {
  EXPECT_EQ(shelf_.Take(), nullptr);
  EXPECT_EQ(shelf_.counts().free, 0u);
  EXPECT_EQ(shelf_.counts().taken, 0u);
}

TEST_F(ShelfTest, GivesEachBlockOnce) {
  Fill(100);
  const std::vector<Block*> taken = TakeAll();
  EXPECT_EQ(std::set<Block*>(taken.begin(), taken.end()).size(), 100u);
  EXPECT_EQ(shelf_.counts().free, 0u);
  EXPECT_EQ(shelf_.counts().taken, 100u);
}

TEST_F(ShelfTest, GivesTheBlockThatWasPutLast) {
  Fill(10);
  Block* const one = shelf_.Take();
  Block* const two = shelf_.Take();
  shelf_.Put(*one);
  shelf_.Put(*two);
  EXPECT_EQ(shelf_.Take(), two);
  EXPECT_EQ(shelf_.Take(), one);
}

TEST_F(ShelfTest, CountsFreeBlocksWhereverTheyLie) {
  Fill(100);
  std::vector<Block*> taken = TakeAll();
  for (size_t i = 0; i < taken.size(); ++i) {
    if (i % 2 == 0) {
      shelf_.Put(*taken[i]);
    } else {
      std::thread([&] { shelf_.Put(*taken[i]); }).join();
    }
    EXPECT_EQ(shelf_.counts().free, i + 1);
  }
}

TEST_F(ShelfTest, AThreadKeepsAtMostTwoBatches) {
  Fill(100);
  Block* const first = shelf_.Take();
  EXPECT_EQ(shelf_.counts().in_shards, kBatch - 1);
  std::vector<Block*> taken = TakeAll();
  taken.push_back(first);
  for (Block* const block : taken) {
    shelf_.Put(*block);
    EXPECT_LE(shelf_.counts().in_shards, 2 * kBatch);
  }
  EXPECT_GE(shelf_.counts().in_shards, kBatch);
  EXPECT_EQ(shelf_.counts().free, 100u);
}

TEST_F(ShelfTest, FindsWhatAnotherThreadHasPut) {
  Fill(100);
  std::vector<Block*> taken = TakeAll();
  std::thread([&] {
    for (Block* const block : taken) shelf_.Put(*block);
  }).join();
  EXPECT_EQ(TakeAll().size(), 100u);
}

TEST_F(ShelfTest, FindsWhatLiesWithOneOfManyThreads) {
  Fill(3 * Shelf::kShards);
  const std::vector<Block*> taken = TakeAll();
  // A shard for each: all threads live at once.
  std::vector<std::thread> threads;
  std::atomic<size_t> done{0};
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  for (size_t i = 0; i < Shelf::kShards; ++i) {
    threads.emplace_back([&, i] {
      for (size_t j = 0; j < 3; ++j) shelf_.Put(*taken[3 * i + j]);
      ++done;
      while (done < Shelf::kShards && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::yield();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(TakeAll().size(), 3 * Shelf::kShards);
}

// Each thread has as many blocks as fall to its share, so one is always free for it.
TEST_F(ShelfTest, NeverFailsWhileABlockIsFree) {
  constexpr size_t kThreads = 6;
  constexpr size_t kShare = 5;
  constexpr int kRounds = 3000;
  Fill(kThreads * kShare);
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      std::vector<Block*> mine;
      for (int round = 0; round < kRounds; ++round) {
        const size_t wanted = (static_cast<size_t>(round) * 7 + i) % kShare + 1;
        while (mine.size() < wanted) {
          Block* const block = shelf_.Take();
          if (block == nullptr) {
            ++failed;
            break;
          }
          mine.push_back(block);
        }
        while (mine.size() > wanted / 2) {
          shelf_.Put(*mine.back());
          mine.pop_back();
        }
      }
      for (Block* const block : mine) shelf_.Put(*block);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(shelf_.counts().free, kThreads * kShare);
}

// The counts are of one moment: what is missing is in somebody's hands.
TEST_F(ShelfTest, CountsAreExactWhileThreadsWork) {
  constexpr size_t kBlocks = 64;
  constexpr size_t kThreads = 3;
  Fill(kBlocks);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      while (!stop) {
        Block* const one = shelf_.Take();
        Block* const two = shelf_.Take();
        if (one != nullptr) shelf_.Put(*one);
        if (two != nullptr) shelf_.Put(*two);
      }
    });
  }
  for (int i = 0; i < 2000; ++i) {
    const size_t free = shelf_.counts().free;
    EXPECT_LE(free, kBlocks);
    EXPECT_GE(free, kBlocks - 2 * kThreads);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace farcall
