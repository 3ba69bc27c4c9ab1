// SPDX-License-Identifier: Apache-2.0

#include "transport/base/threads/chunk_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace farcall {
namespace {

struct alignas(64) Thing {
  explicit Thing(std::string given) : text(std::move(given)) { ++alive; }
  ~Thing() { --alive; }
  std::string text;
  inline static int alive = 0;
};

TEST(ChunkPoolTest, WhatWasFreedIsUsedAgain) {
  ChunkPool<Thing> pool;
  Thing* const first = pool.New("one");
  EXPECT_EQ(first->text, "one");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % alignof(Thing), 0u);
  pool.Delete(first);
  EXPECT_EQ(Thing::alive, 0) << "destroyed, though its memory is kept";
  Thing* const second = pool.New("two");
  EXPECT_EQ(second, first);
  pool.Delete(second);
}

TEST(ChunkPoolTest, NoPieceSharesACacheLine) {
  ChunkPool<char> pool;
  char* const first = pool.New();
  char* const second = pool.New();
  for (char* const piece : {first, second}) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(piece) % 64, 0u);
    // All of the line is the piece's: AddressSanitizer knows what was asked of the heap.
    std::fill_n(piece, 64, 'x');
  }
  EXPECT_NE(first, second);
  pool.Delete(first);
  pool.Delete(second);
}

TEST(ChunkPoolTest, MoreThanItKeepsGoesToTheHeap) {
  ChunkPool<Thing> pool;
  std::vector<Thing*> things;
  for (size_t i = 0; i < 2 * pool.kMax; ++i) things.push_back(pool.New("x"));
  for (Thing* const thing : things) pool.Delete(thing);  // leaks would be found by the sanitizer
  EXPECT_EQ(Thing::alive, 0);
}

TEST(ChunkPoolTest, ThreadsShareIt) {
  ChunkPool<std::string> pool;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&pool, t] {
      for (int i = 0; i < 2000; ++i) {
        std::string* const mine = pool.New(std::to_string(t));
        EXPECT_EQ(*mine, std::to_string(t));
        pool.Delete(mine);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace farcall
