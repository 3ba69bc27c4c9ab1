// SPDX-License-Identifier: Apache-2.0

#include "transport/base/threads/in_flight.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace farcall {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(InFlightTest, CountsWhatBeganAndDidNotEnd) {
  InFlight calls;
  EXPECT_EQ(calls.count(), 0);
  EXPECT_TRUE(calls.Begin());
  EXPECT_TRUE(calls.Begin());
  EXPECT_EQ(calls.count(), 2);
  calls.End();
  EXPECT_EQ(calls.count(), 1);
  calls.End();
  EXPECT_EQ(calls.count(), 0);
}

TEST(InFlightTest, TheLimitIsExactAndWhatIsRefusedIsNotCounted) {
  InFlight calls;
  EXPECT_TRUE(calls.Begin(2));
  EXPECT_TRUE(calls.Begin(2));
  EXPECT_FALSE(calls.Begin(2));
  EXPECT_FALSE(calls.Begin(1));
  EXPECT_EQ(calls.count(), 2);
  EXPECT_TRUE(calls.Begin(3));
  EXPECT_TRUE(calls.Begin(0));
  for (int i = 0; i < 4; ++i) calls.End();
  EXPECT_TRUE(calls.Begin(1));
  calls.End();
}

TEST(InFlightTest, WaitingForNothingReturnsAtOnce) {
  InFlight calls;
  calls.WaitForNone();
  EXPECT_EQ(calls.WaitForNone(hours(1)), 0);
}

TEST(InFlightTest, PatienceEndsAndTellsHowManyAreLeft) {
  InFlight calls;
  calls.Begin();
  calls.Begin();
  EXPECT_EQ(calls.WaitForNone(Duration::zero()), 2);
  EXPECT_EQ(calls.WaitForNone(milliseconds(-5)), 2);
  EXPECT_EQ(calls.WaitForNone(Duration::min()), 2);
  EXPECT_EQ(calls.WaitForNone(milliseconds(1)), 2);
  calls.End();
  calls.End();
}

TEST(InFlightTest, ThereIsNoLongestPatience) {
  InFlight calls;
  calls.Begin();
  std::thread other([&] { calls.End(); });
  // With a sum that overflows it would return 1.
  EXPECT_EQ(calls.WaitForNone(Duration::max()), 0);
  other.join();
}

TEST(InFlightTest, EveryWaiterIsToldOfTheLastEnd) {
  InFlight calls;
  for (int i = 0; i < 8; ++i) calls.Begin();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { calls.WaitForNone(); });
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { calls.End(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(calls.count(), 0);
}

TEST(InFlightTest, TheLimitHoldsBetweenThreads) {
  constexpr int kLimit = 3;
  InFlight calls;
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20'000; ++i) {
        if (!calls.Begin(kLimit)) continue;
        const int now = inside.fetch_add(1) + 1;
        for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
        }
        inside.fetch_sub(1);
        calls.End();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(most, kLimit);
  EXPECT_GE(most, 1);
  EXPECT_EQ(calls.count(), 0);
}

// Whoever ends is out of it before the waiter may go on.
TEST(InFlightTest, MayBeDestroyedAfterTheWait) {
  for (int round = 0; round < 500; ++round) {
    auto calls = std::make_unique<InFlight>();
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) calls->Begin();
    for (int i = 0; i < 2; ++i) threads.emplace_back([raw = calls.get()] { raw->End(); });
    calls->WaitForNone();
    calls.reset();
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(InFlightOneTest, CountsAsLongAsItLives) {
  InFlight calls;
  std::optional<InFlightOne> one(std::in_place, &calls);
  {
    const InFlightOne other(&calls);
    EXPECT_EQ(calls.count(), 2);
  }
  EXPECT_EQ(calls.count(), 1);
  one.reset();
  EXPECT_EQ(calls.count(), 0);
  const InFlightOne none(nullptr);
}

}  // namespace
}  // namespace farcall
