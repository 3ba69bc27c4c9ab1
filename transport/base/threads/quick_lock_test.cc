// SPDX-License-Identifier: Apache-2.0

#include "transport/base/threads/quick_lock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace farcall {
namespace {

TEST(QuickLockTest, OneHoldsItAtATime) {
  QuickLock lock;
  lock.lock();
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
  EXPECT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
}

// A plain number, so that ThreadSanitizer sees who holds what.
TEST(QuickLockTest, ThreadsThatWantItAtOnceGetItOneAfterTheOther) {
  constexpr int kThreads = 4;
  constexpr int kTimes = 20000;
  QuickLock lock;
  int held = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < kTimes; ++n) {
        const std::lock_guard<QuickLock> hold(lock);
        ++held;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(held, kThreads * kTimes);
}

// None is forgotten in its sleep, although each unlock wakes one only.
TEST(QuickLockTest, AllThatSleepGetIt) {
  constexpr int kSleepers = 4;
  QuickLock lock;
  lock.lock();
  std::atomic<int> coming{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kSleepers; ++i) {
    threads.emplace_back([&] {
      ++coming;
      lock.lock();
      lock.unlock();
    });
  }
  while (coming != kSleepers) std::this_thread::yield();
  lock.unlock();
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

}  // namespace
}  // namespace farcall
