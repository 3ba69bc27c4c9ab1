// SPDX-License-Identifier: Apache-2.0

#include "rpc/stats/method_stats.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "rpc/errors.h"

namespace farcall {
namespace {

using std::chrono::microseconds;

TEST(MethodStatsTest, NothingIsCountedAtFirst) {
  const MethodStats stats;
  const MethodSnapshot none = stats.snapshot();
  EXPECT_EQ(none.started, 0U);
  EXPECT_EQ(none.ended_count(), 0U);
  EXPECT_EQ(none.errors(), 0U);
  EXPECT_EQ(none.in_flight(), 0U);
}

TEST(MethodStatsTest, ACallIsInFlightFromItsStartToItsEnd) {
  MethodStats stats;
  stats.OnStart();
  stats.OnStart();
  EXPECT_EQ(stats.snapshot().in_flight(), 2U);
  stats.OnEnd(0, microseconds(5));
  EXPECT_EQ(stats.snapshot().in_flight(), 1U);
  stats.OnEnd(kInternal, microseconds(7));
  const MethodSnapshot both = stats.snapshot();
  EXPECT_EQ(both.in_flight(), 0U);
  EXPECT_EQ(both.started, 2U);
  EXPECT_EQ(both.ended[0], 1U);
  EXPECT_EQ(both.ended[ErrorClassOf(kInternal)], 1U);
  EXPECT_EQ(both.errors(), 1U);
  EXPECT_EQ(both.latency_ns, 12'000U);
  EXPECT_EQ(both.latencies[LatencyBuckets::Of(microseconds(5))], 1U);
  EXPECT_EQ(both.latencies[LatencyBuckets::Of(microseconds(7))], 1U);
}

TEST(MethodStatsTest, RefusedCallsAreErrorsWithoutLatency) {
  MethodStats stats;
  stats.OnRefused(kLimit);
  stats.OnRefused(kLogoff);
  stats.OnRefused(kLimit);
  const MethodSnapshot refused = stats.snapshot();
  EXPECT_EQ(refused.started, 0U);
  EXPECT_EQ(refused.refused_count(), 3U);
  EXPECT_EQ(refused.refused[ErrorClassOf(kLimit)], 2U);
  EXPECT_EQ(refused.errors(), 3U);
  EXPECT_EQ(LatencyBuckets::Total(refused.latencies), 0U);
}

TEST(MethodStatsTest, ALatencyBelowZeroCountsAsZero) {
  MethodStats stats;
  stats.OnStart();
  stats.OnEnd(0, microseconds(-3));
  EXPECT_EQ(stats.snapshot().latency_ns, 0U);
  EXPECT_EQ(stats.snapshot().latencies[0], 1U);
}

TEST(MethodStatsTest, SnapshotsAddAndSubtract) {
  MethodStats one;
  MethodStats two;
  for (int i = 0; i < 10; ++i) {
    one.OnStart();
    one.OnEnd(i % 2 == 0 ? 0 : kLimit, microseconds(i));
    two.OnRefused(kLogoff);
  }
  MethodSnapshot sum = one.snapshot();
  sum += two.snapshot();
  EXPECT_EQ(sum.started, 10U);
  EXPECT_EQ(sum.errors(), 15U);
  EXPECT_EQ(LatencyBuckets::Total(sum.latencies), 10U);
  const MethodSnapshot rest = sum.Since(one.snapshot());
  EXPECT_EQ(rest.started, 0U);
  EXPECT_EQ(rest.latency_ns, 0U);
  EXPECT_EQ(rest.errors(), 10U);
  EXPECT_EQ(LatencyBuckets::Total(rest.latencies), 0U);
}

TEST(MethodStatsTest, CountsAreThoseOfTheSnapshot) {
  MethodStats stats;
  stats.OnStart();
  stats.OnStart();
  stats.OnEnd(kInternal, microseconds(1));
  stats.OnRefused(kLimit);
  const MethodStats::Counts counts = stats.counts();
  EXPECT_EQ(counts.started, 2U);
  EXPECT_EQ(counts.ended, 1U);
  EXPECT_EQ(counts.errors, 2U);
  EXPECT_EQ(counts.refused, 1U);
}

// More threads than there are places to count in; each call begins on one thread and ends on
// another, while a reader looks.
TEST(MethodStatsTest, NothingIsLostBetweenThreads) {
  constexpr int kThreads = 12;
  constexpr int kCalls = 2000;
  MethodStats stats;
  std::atomic<bool> done{false};
  std::thread reader([&] {
    uint64_t last = 0;
    while (!done.load()) {
      const MethodSnapshot seen = stats.snapshot();
      EXPECT_GE(seen.started, seen.ended_count());
      EXPECT_GE(seen.ended_count(), last);
      last = seen.ended_count();
    }
  });
  std::atomic<int> open{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&stats, &open, i] {
      for (int call = 0; call < kCalls; ++call) {
        if (i % 2 == 0) {
          stats.OnStart();
          open.fetch_add(1);
        } else {
          while (open.load() == 0) std::this_thread::yield();
          int seen = open.load();
          while (seen == 0 || !open.compare_exchange_weak(seen, seen - 1)) seen = open.load();
          stats.OnEnd(call % 4 == 0 ? kInternal : 0, microseconds(call));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  done = true;
  reader.join();
  const MethodSnapshot all = stats.snapshot();
  constexpr uint64_t kAll = kThreads / 2 * kCalls;
  EXPECT_EQ(all.started, kAll);
  EXPECT_EQ(all.ended_count(), kAll);
  EXPECT_EQ(all.errors(), kAll / 4);
  EXPECT_EQ(LatencyBuckets::Total(all.latencies), kAll);
  EXPECT_EQ(all.latency_ns, kThreads / 2 * uint64_t{kCalls} * (kCalls - 1) / 2 * 1000);
}

}  // namespace
}  // namespace farcall
