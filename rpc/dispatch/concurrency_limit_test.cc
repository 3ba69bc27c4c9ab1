// SPDX-License-Identifier: Apache-2.0

#include "rpc/dispatch/concurrency_limit.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "rpc/errors.h"

namespace farcall {
namespace {

using Entry = ConcurrencyLimit::Entry;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kNow{seconds(1)};

TEST(ConcurrencyLimitTest, WithoutOneAllAreFree) {
  ConcurrencyLimit limit;
  EXPECT_EQ(limit.limit(), 0);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(limit.Begin(), Entry::kFree);
  EXPECT_EQ(limit.count(), 0);
  limit.End(Entry::kFree, 0, milliseconds(1), kNow);
  EXPECT_EQ(limit.count(), 0);
}

TEST(ConcurrencyLimitTest, ANumberIsExact) {
  ConcurrencyLimit limit;
  limit.Set(2);
  EXPECT_EQ(limit.Begin(), Entry::kCounted);
  EXPECT_EQ(limit.Begin(), Entry::kCounted);
  EXPECT_EQ(limit.Begin(), Entry::kRefused);
  limit.End(Entry::kCounted, 0, milliseconds(1), kNow);
  EXPECT_EQ(limit.Begin(), Entry::kCounted);
  limit.Revoke(Entry::kCounted);
  EXPECT_EQ(limit.count(), 1);
  limit.Revoke(Entry::kRefused);
  limit.Revoke(Entry::kFree);
  EXPECT_EQ(limit.count(), 1);
}

TEST(ConcurrencyLimitTest, MayChangeWhileCallsAreUnderWay) {
  ConcurrencyLimit limit;
  const Entry before = limit.Begin();
  limit.Set(1);
  EXPECT_EQ(limit.Begin(), Entry::kCounted) << "who began without a limit is not counted";
  EXPECT_EQ(limit.Begin(), Entry::kRefused);
  limit.Set(3);
  EXPECT_EQ(limit.Begin(), Entry::kCounted);
  limit.Set(1);
  EXPECT_EQ(limit.Begin(), Entry::kRefused);
  limit.Set(0);
  EXPECT_EQ(limit.Begin(), Entry::kFree);
  limit.End(before, 0, milliseconds(1), kNow);
  limit.End(Entry::kCounted, 0, milliseconds(1), kNow);
  limit.End(Entry::kCounted, 0, milliseconds(1), kNow);
  EXPECT_EQ(limit.count(), 0);
}

TEST(ConcurrencyLimitTest, AutoFollowsWhatTimesOutAndNotOtherErrors) {
  for (const int code : {kRpcTimedOut + 0, 1234}) {
    ConcurrencyLimit limit;
    limit.Set(MaxConcurrency::Auto());
    EXPECT_TRUE(limit.setting().is_auto());
    const int first = limit.limit();
    EXPECT_GT(first, 0);
    TimePoint now = kNow;
    for (int i = 0; i < 5'000; ++i) {
      now += milliseconds(1);
      std::vector<Entry> under_way;
      while (limit.count() < limit.limit()) under_way.push_back(limit.Begin());
      for (const Entry entry : under_way) limit.End(entry, code, milliseconds(1), now);
    }
    if (code == kRpcTimedOut) {
      EXPECT_EQ(limit.limit(), 1);
    } else {
      EXPECT_GE(limit.limit(), 10);
    }
  }
}

TEST(ConcurrencyLimitTest, HoldsBetweenThreads) {
  ConcurrencyLimit limit;
  limit.Set(3);
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20'000; ++i) {
        const Entry entry = limit.Begin();
        if (entry == Entry::kRefused) continue;
        const int now = inside.fetch_add(1) + 1;
        for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
        }
        inside.fetch_sub(1);
        limit.End(entry, 0, milliseconds(1), kNow);
      }
    });
  }
  for (int i = 0; i < 1000; ++i) limit.Set(i % 2 == 0 ? MaxConcurrency(3) : MaxConcurrency(2));
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(most, 3);
  EXPECT_EQ(limit.count(), 0);
}

}  // namespace
}  // namespace farcall
