// SPDX-License-Identifier: Apache-2.0

#include "transport/link/upgrade/ask_rate_limit.h"

#include <chrono>

#include "gtest/gtest.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kStart{seconds(100)};

// As many as are let through until one is not.
uint32_t InARow(AskRateLimit& pace, TimePoint now) {
  uint32_t asks = 0;
  while (asks < 1000 && pace.OnAsk(now).ok()) ++asks;
  return asks;
}

TEST(AskRateLimitTest, LetsABurstThroughAndNoMore) {
  AskRateLimit pace(milliseconds(100), kStart);
  EXPECT_EQ(InARow(pace, kStart), AskRateLimit::kBurst);
  const absl::Status late = pace.OnAsk(kStart);
  EXPECT_EQ(late.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(late.message(), "the peer sent more than 8 UPGRADE_ASK faster than one in 25 ms");
}

TEST(AskRateLimitTest, OneMoreForEachQuarterOfThePause) {
  AskRateLimit pace(milliseconds(100), kStart);
  InARow(pace, kStart);
  EXPECT_EQ(InARow(pace, kStart + milliseconds(24)), 0u);
  EXPECT_EQ(InARow(pace, kStart + milliseconds(25)), 1u);
  EXPECT_EQ(InARow(pace, kStart + milliseconds(120)), 3u);
  EXPECT_EQ(InARow(pace, kStart + milliseconds(125)), 1u) << "what is left of the time counts";
}

TEST(AskRateLimitTest, ABurstIsSavedUpButOnce) {
  AskRateLimit pace(milliseconds(100), kStart);
  InARow(pace, kStart);
  EXPECT_EQ(InARow(pace, kStart + std::chrono::hours(24 * 365)), AskRateLimit::kBurst);
}

// The least that ClientUpgradeMachine pauses is half of the first pause.
TEST(AskRateLimitTest, AClientThatKeepsItsPausesIsNeverCutOff) {
  AskRateLimit pace(milliseconds(100), kStart);
  TimePoint now = kStart;
  for (int i = 0; i < 10'000; ++i, now += milliseconds(50)) ASSERT_TRUE(pace.OnAsk(now).ok());
}

// Each end may have other options.
TEST(AskRateLimitTest, AServerThatWouldPauseLongCutsOffNoClientThatPausesShort) {
  AskRateLimit pace(std::chrono::hours(1), kStart);
  TimePoint now = kStart;
  for (int i = 0; i < 10'000; ++i, now += kMinUpgradePause / 2) {
    ASSERT_TRUE(pace.OnAsk(now).ok()) << i;
  }
}

TEST(AskRateLimitTest, EachOfSeveralRailsMayBeAskedFor) {
  AskRateLimit pace(milliseconds(100), kStart, 4);
  EXPECT_EQ(InARow(pace, kStart), 4 * AskRateLimit::kBurst);
  EXPECT_EQ(InARow(pace, kStart + milliseconds(50)), 8u);
}

TEST(AskRateLimitTest, APauseTooShortToCountIsNoLimit) {
  AskRateLimit pace(std::chrono::nanoseconds(1), kStart);
  EXPECT_EQ(InARow(pace, kStart), 1000u);
}

}  // namespace
}  // namespace farcall
