// SPDX-License-Identifier: Apache-2.0

#include "transport/base/threads/spin_lock.h"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

namespace farcall {
namespace {

// ThreadSanitizer would tell of a race, and a sum that is too small tells, too.
TEST(SpinLockTest, OneThreadIsInsideAtATime) {
  SpinLock lock;
  int inside = 0;
  int times = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5000; ++i) {
        const std::lock_guard<SpinLock> hold(lock);
        EXPECT_EQ(++inside, 1);
        ++times;
        --inside;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(times, 20'000);
}

}  // namespace
}  // namespace farcall
