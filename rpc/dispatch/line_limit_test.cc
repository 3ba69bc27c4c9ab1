// SPDX-License-Identifier: Apache-2.0

#include "rpc/dispatch/line_limit.h"

#include <gtest/gtest.h>

namespace farcall {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kStart{seconds(5)};

TEST(LineLimitTest, AFewAtOnce) {
  LineLimit limit;
  for (int i = 0; i < LineLimit::kAtOnce; ++i) EXPECT_EQ(limit.Take(kStart), 0u) << i;
  EXPECT_FALSE(limit.Take(kStart).has_value());
  EXPECT_FALSE(limit.Take(kStart).has_value());
}

TEST(LineLimitTest, ThenOneForEachInterval) {
  LineLimit limit;
  for (int i = 0; i < LineLimit::kAtOnce; ++i) limit.Take(kStart);
  TimePoint now = kStart;
  for (int i = 0; i < 10; ++i) {
    now += LineLimit::kOneEvery;
    EXPECT_TRUE(limit.Take(now).has_value());
    EXPECT_FALSE(limit.Take(now).has_value());
  }
}

TEST(LineLimitTest, TellsHowManyWereLeftOut) {
  LineLimit limit;
  for (int i = 0; i < LineLimit::kAtOnce + 37; ++i) limit.Take(kStart);
  EXPECT_EQ(limit.Take(kStart + seconds(1)), 37u);
  EXPECT_EQ(limit.Take(kStart + seconds(1)), 0u);
}

TEST(LineLimitTest, AQuietTimeIsNotSavedUpBeyondAFew) {
  LineLimit limit;
  limit.Take(kStart);
  int written = 0;
  for (int i = 0; i < 1000; ++i) written += limit.Take(kStart + hours(1)).has_value() ? 1 : 0;
  EXPECT_EQ(written, LineLimit::kAtOnce);
}

TEST(LineLimitTest, OverALongTimeTheyAreSoMany) {
  LineLimit limit;
  int written = 0;
  for (int ms = 0; ms < 100'000; ++ms) {
    written += limit.Take(kStart + milliseconds(ms)).has_value() ? 1 : 0;
  }
  EXPECT_NEAR(written, 500 + LineLimit::kAtOnce, 2);
}

}  // namespace
}  // namespace farcall
