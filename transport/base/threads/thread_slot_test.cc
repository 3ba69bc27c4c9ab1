// SPDX-License-Identifier: Apache-2.0

#include "transport/base/threads/thread_slot.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace farcall {
namespace {

// The slots of `count` threads that all run at once.
std::vector<size_t> SlotsOf(size_t count) {
  std::mutex mutex;
  std::condition_variable all_here;
  std::vector<size_t> slots;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < count; ++i) {
    threads.emplace_back([&] {
      const size_t slot = ThreadSlot();
      std::unique_lock lock(mutex);
      slots.push_back(slot);
      all_here.notify_all();
      EXPECT_TRUE(
          all_here.wait_for(lock, std::chrono::seconds(10), [&] { return slots.size() == count; }));
    });
  }
  for (std::thread& thread : threads) thread.join();
  return slots;
}

TEST(ThreadSlotTest, StaysTheSameForAThread) { EXPECT_EQ(ThreadSlot(), ThreadSlot()); }

TEST(ThreadSlotTest, LiveThreadsHaveSlotsOfTheirOwn) {
  std::vector<size_t> slots = SlotsOf(20);
  slots.push_back(ThreadSlot());
  EXPECT_EQ(std::set<size_t>(slots.begin(), slots.end()).size(), 21u);
}

TEST(ThreadSlotTest, LaterThreadsTakeTheSlotsOfThoseThatEnded) {
  for (int round = 0; round < 20; ++round) {
    // The main thread may have one as well.
    for (const size_t slot : SlotsOf(8)) EXPECT_LE(slot, 8u);
  }
}

TEST(ThreadSlotTest, MoreThreadsThanSlotsShareThem) {
  for (const size_t slot : SlotsOf(kThreadSlots + 20)) EXPECT_LT(slot, kThreadSlots);
  // All slots came back.
  for (const size_t slot : SlotsOf(8)) EXPECT_LE(slot, 8u);
}

}  // namespace
}  // namespace farcall
