// SPDX-License-Identifier: Apache-2.0

#include "rpc/stats/stats_sampler.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "rpc/errors.h"

namespace farcall {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

class StatsSamplerTest : public testing::Test {
 protected:
  StatsSamplerTest() { sampler_.Begin(now_, {&one_, &two_}); }
  // As a server does it: the sampler hears of a call before it is counted.
  void Call(MethodStats& stats, Duration latency, int error = 0) {
    stats.OnStart();
    sampler_.OnCall(now_);
    stats.OnEnd(error, latency);
  }
  // `rate` calls a second, evenly, for `time`.
  void Load(MethodStats& stats, int rate, Duration time, Duration latency = microseconds(50)) {
    const TimePoint end = now_ + time;
    while (now_ < end) {
      Call(stats, latency);
      now_ += std::chrono::nanoseconds(1'000'000'000 / rate);
    }
  }

  TimePoint now_{seconds(1000)};
  MethodStats one_;
  MethodStats two_;
  StatsSampler sampler_;
};

TEST_F(StatsSamplerTest, WithoutCallsEverythingIsZero) {
  now_ += seconds(30);
  const auto view = sampler_.Look(now_);
  ASSERT_EQ(view.methods.size(), 2U);
  EXPECT_EQ(view.methods[0].qps, 0);
  EXPECT_EQ(view.methods[0].total.started, 0U);
  EXPECT_GT(view.methods[0].recent_seconds, 0);
}

TEST_F(StatsSamplerTest, ASteadyLoadHasItsRate) {
  Load(one_, 200, seconds(100));
  const auto view = sampler_.Look(now_);
  EXPECT_NEAR(view.methods[0].qps, 200, 2);
  EXPECT_EQ(view.methods[1].qps, 0);
  EXPECT_EQ(view.methods[0].total.ended_count(), 20'000U);
  EXPECT_GE(view.methods[0].recent_seconds, 60);
  EXPECT_LE(view.methods[0].recent_seconds, 72);
  EXPECT_NEAR(
      static_cast<double>(view.methods[0].recent.ended_count()) / view.methods[0].recent_seconds,
      200, 2);
}

TEST_F(StatsSamplerTest, AYoungServerIsReckonedFromItsStart) {
  Load(one_, 100, milliseconds(500));
  const auto rates = sampler_.Look(now_).methods[0];
  EXPECT_NEAR(rates.qps, 100, 1);
  EXPECT_NEAR(rates.recent_seconds, 0.5, 0.01);
  EXPECT_EQ(rates.recent.ended_count(), 50U);
}

TEST_F(StatsSamplerTest, QuantilesAreOfTheLastMinuteOnly) {
  Load(one_, 50, seconds(100), milliseconds(10));
  Load(one_, 50, seconds(80), microseconds(100));
  const auto rates = sampler_.Look(now_).methods[0];
  EXPECT_LT(LatencyBuckets::Quantile(rates.recent.latencies, 0.999), microseconds(110));
  EXPECT_GT(LatencyBuckets::Quantile(rates.total.latencies, 0.5), milliseconds(9));
}

TEST_F(StatsSamplerTest, WhatIsLongOverIsNotRecentAlthoughNobodyLooked) {
  Load(one_, 100, seconds(30));
  now_ += std::chrono::minutes(10);
  const auto idle = sampler_.Look(now_).methods[0];
  EXPECT_EQ(idle.qps, 0);
  EXPECT_EQ(idle.recent.ended_count(), 0U);
  EXPECT_EQ(idle.total.ended_count(), 3000U);
}

TEST_F(StatsSamplerTest, AfterAPauseTheLoadIsSeenAtOnce) {
  Load(one_, 100, seconds(5));
  now_ += std::chrono::minutes(10);
  Load(one_, 1000, milliseconds(900));
  const auto rates = sampler_.Look(now_).methods[0];
  EXPECT_NEAR(rates.qps, 900, 5) << "those of one second";
  EXPECT_EQ(rates.recent.ended_count(), 900U);
}

TEST_F(StatsSamplerTest, RareCallsAreCountedOnce) {
  for (int i = 0; i < 40; ++i) {
    Call(one_, microseconds(10));
    now_ += seconds(5);
  }
  const auto rates = sampler_.Look(now_).methods[0];
  EXPECT_NEAR(static_cast<double>(rates.recent.ended_count()) / rates.recent_seconds, 0.2, 0.03);
}

TEST_F(StatsSamplerTest, ErrorsAndRefusedCallsHaveARate) {
  for (int i = 0; i < 100; ++i) {
    Call(one_, microseconds(10), i % 10 == 0 ? kInternal : 0);
    sampler_.OnCall(now_);
    one_.OnRefused(kLimit);
    now_ += milliseconds(100);
  }
  const auto rates = sampler_.Look(now_).methods[0];
  EXPECT_NEAR(rates.qps, 20, 1);
  EXPECT_NEAR(rates.errors_per_second, 11, 1);
}

TEST_F(StatsSamplerTest, ManyLooksDoNotShortenTheWindow) {
  Load(one_, 100, seconds(5));
  for (int i = 0; i < 1000; ++i) {
    now_ += std::chrono::microseconds(10);
    sampler_.Look(now_);
  }
  EXPECT_NEAR(sampler_.Look(now_).methods[0].qps, 100, 5);
}

TEST_F(StatsSamplerTest, TheHistoryHasEachSecondOfAllMethods) {
  Load(one_, 100, seconds(10));
  Load(two_, 50, seconds(10), milliseconds(2));
  const auto history = sampler_.Look(now_).history;
  ASSERT_GE(history.size(), 19U);
  ASSERT_LE(history.size(), StatsSampler::kHistory);
  uint64_t ended = 0;
  TimePoint last = history.front().end;
  for (const auto& moment : history) {
    EXPECT_GT(moment.seconds, 0);
    EXPECT_GE(moment.end, last);
    last = moment.end;
    ended += moment.counts.ended;
  }
  EXPECT_EQ(ended, 1500U);
  EXPECT_NEAR(static_cast<double>(history[5].counts.ended) / history[5].seconds, 100, 2);
  EXPECT_NEAR(static_cast<double>(history[15].counts.ended) / history[15].seconds, 50, 2);
}

TEST_F(StatsSamplerTest, MayBeginAnew) {
  Load(one_, 100, seconds(3));
  MethodStats other;
  sampler_.Begin(now_, {&other});
  now_ += seconds(1);
  const auto view = sampler_.Look(now_);
  ASSERT_EQ(view.methods.size(), 1U);
  EXPECT_EQ(view.methods[0].qps, 0);
}

TEST(StatsSamplerThreadsTest, CallsAndLooksMayComeTogether) {
  MethodStats stats;
  StatsSampler sampler;
  sampler.Begin(TimePoint(seconds(1)), {&stats});
  std::atomic<int64_t> clock{1000};  // milliseconds
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int call = 0; call < 2000; ++call) {
        const TimePoint now{milliseconds(clock.fetch_add(7))};
        stats.OnStart();
        sampler.OnCall(now);
        stats.OnEnd(0, microseconds(call));
        if (call % 50 == 0) {
          EXPECT_GE(sampler.Look(now).methods[0].qps, 0);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto rates = sampler.Look(TimePoint(milliseconds(clock.load()))).methods[0];
  EXPECT_EQ(rates.total.ended_count(), 8000U);
}

}  // namespace
}  // namespace farcall
