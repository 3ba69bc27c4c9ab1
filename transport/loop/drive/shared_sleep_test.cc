// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/drive/shared_sleep.h"

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace farcall {
namespace {

TEST(SharedSleepTest, BitsComeInTurns) {
  SharedSleep sleepers;
  std::set<uint32_t> bits;
  for (int i = 0; i < 32; ++i) bits.insert(sleepers.NextBit());
  EXPECT_EQ(bits.size(), 32u);
  EXPECT_TRUE(bits.contains(sleepers.NextBit()));
}

TEST(SharedSleepTest, WhoLookedBeforeAWakeDoesNotSleep) {
  SharedSleep sleepers;
  const uint32_t seen = sleepers.wakes();
  sleepers.Wake(1);
  sleepers.Sleep(seen, 2);  // returns
}

// Each thread sleeps until its own word has changed, a thousand times; all are woken together.
TEST(SharedSleepTest, NoneSleepsThroughItsNotice) {
  constexpr int kThreads = 6;
  constexpr int kTurns = 1000;
  SharedSleep sleepers;
  std::vector<std::atomic<int>> turns(kThreads);
  std::atomic<int> left{0};
  std::vector<std::thread> threads;
  uint32_t all = 0;
  for (std::atomic<int>& turn : turns) {
    const uint32_t bit = sleepers.NextBit();
    all |= bit;
    threads.emplace_back([&, bit] {
      for (int i = 0; i < kTurns; ++i) {
        for (uint32_t seen = sleepers.wakes(); turn.load() == i; seen = sleepers.wakes()) {
          sleepers.Sleep(seen, bit);
        }
        --left;
      }
    });
  }
  for (int i = 1; i <= kTurns; ++i) {
    left = kThreads;
    for (std::atomic<int>& turn : turns) turn = i;
    sleepers.Wake(all);
    while (left != 0) std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace farcall
