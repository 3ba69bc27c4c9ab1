// SPDX-License-Identifier: Apache-2.0

#include "rpc/stats/latency_buckets.h"

#include <chrono>

#include "gtest/gtest.h"

namespace farcall {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

TEST(LatencyBucketsTest, BucketsFollowEachOtherWithoutGapOrOverlap) {
  EXPECT_EQ(LatencyBuckets::Begin(0), Duration::zero());
  for (size_t i = 0; i < LatencyBuckets::kCount; ++i) {
    const Duration begin = LatencyBuckets::Begin(i);
    const Duration end = LatencyBuckets::End(i);
    ASSERT_LT(begin, end) << i;
    EXPECT_EQ(LatencyBuckets::Of(begin), i);
    EXPECT_EQ(LatencyBuckets::Of(end - nanoseconds(1)), i);
    if (i + 1 < LatencyBuckets::kCount) {
      EXPECT_EQ(LatencyBuckets::Of(end), i + 1);
    }
  }
}

TEST(LatencyBucketsTest, BucketsAreThreeToSixPercentWideAboveAMicrosecond) {
  for (size_t i = LatencyBuckets::Of(microseconds(2)); i < LatencyBuckets::kCount; ++i) {
    const auto begin = static_cast<double>(LatencyBuckets::Begin(i).count());
    const auto end = static_cast<double>(LatencyBuckets::End(i).count());
    EXPECT_GT(end / begin, 1.031) << i;
    EXPECT_LE(end / begin, 1.0625) << i;
  }
}

TEST(LatencyBucketsTest, TheRangeIsFromNothingToAMinute) {
  EXPECT_EQ(LatencyBuckets::Of(Duration::zero()), 0U);
  EXPECT_EQ(LatencyBuckets::Of(nanoseconds(-5)), 0U);
  EXPECT_EQ(LatencyBuckets::Of(Duration::min()), 0U);
  EXPECT_LT(LatencyBuckets::Of(seconds(60)), LatencyBuckets::kCount - 1);
  EXPECT_EQ(LatencyBuckets::Of(seconds(70)), LatencyBuckets::kCount - 1);
  EXPECT_EQ(LatencyBuckets::Of(Duration::max()), LatencyBuckets::kCount - 1);
}

TEST(LatencyBucketsTest, PowersOfTwoOfAUnitBeginABucket) {
  for (int bits = 0; bits < LatencyBuckets::kValueBits; ++bits) {
    const nanoseconds value(int64_t{64} << bits);
    EXPECT_EQ(LatencyBuckets::Begin(LatencyBuckets::Of(value)), value) << bits;
  }
}

TEST(LatencyBucketsTest, QuantilesOfNothingAreZero) {
  const LatencyBuckets::Counts none{};
  EXPECT_EQ(LatencyBuckets::Total(none), 0U);
  EXPECT_EQ(LatencyBuckets::Quantile(none, 0.99), Duration::zero());
}

TEST(LatencyBucketsTest, QuantilesOfASpreadAreWithinABucket) {
  LatencyBuckets::Counts counts{};
  for (int i = 1; i <= 10'000; ++i) ++counts[LatencyBuckets::Of(microseconds(i))];
  EXPECT_EQ(LatencyBuckets::Total(counts), 10'000U);
  for (const double q : {0.01, 0.5, 0.9, 0.99, 0.999}) {
    const double expected = q * 10'000 * 1000;
    const auto quantile = static_cast<double>(LatencyBuckets::Quantile(counts, q).count());
    EXPECT_NEAR(quantile, expected, 0.032 * expected) << q;
  }
}

TEST(LatencyBucketsTest, TheFirstAndTheLastAreCounted) {
  LatencyBuckets::Counts counts{};
  ++counts[LatencyBuckets::Of(microseconds(10))];
  for (int i = 0; i < 98; ++i) ++counts[LatencyBuckets::Of(microseconds(100))];
  ++counts[LatencyBuckets::Of(seconds(1))];
  EXPECT_LT(LatencyBuckets::Quantile(counts, 0), microseconds(11));
  EXPECT_LT(LatencyBuckets::Quantile(counts, 0.99), microseconds(105));
  EXPECT_GT(LatencyBuckets::Quantile(counts, 0.999), std::chrono::milliseconds(950));
  EXPECT_GT(LatencyBuckets::Quantile(counts, 7), std::chrono::milliseconds(950));
}

}  // namespace
}  // namespace farcall
