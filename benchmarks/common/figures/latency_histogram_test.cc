// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/common/figures/latency_histogram.h"

#include <chrono>
#include <cstdint>

#include "gtest/gtest.h"

namespace farcall::bench {
namespace {

using std::chrono::nanoseconds;

TEST(LatencyHistogramTest, EmptyIsZeroThroughout) {
  const LatencyHistogram histogram;
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.min(), nanoseconds(0));
  EXPECT_EQ(histogram.max(), nanoseconds(0));
  EXPECT_EQ(histogram.mean_ns(), 0);
  EXPECT_EQ(histogram.Quantile(0.5), nanoseconds(0));
}

TEST(LatencyHistogramTest, SmallValuesAreExact) {
  LatencyHistogram histogram;
  for (int i = 1; i <= 100; ++i) {
    histogram.Record(nanoseconds(i));
  }
  EXPECT_EQ(histogram.Quantile(0.01), nanoseconds(1));
  EXPECT_EQ(histogram.Quantile(0.5), nanoseconds(50));
  EXPECT_EQ(histogram.Quantile(0.99), nanoseconds(99));
  EXPECT_EQ(histogram.Quantile(1), nanoseconds(100));
  EXPECT_DOUBLE_EQ(histogram.mean_ns(), 50.5);
}

TEST(LatencyHistogramTest, OneValueIsEveryQuantileExactly) {
  LatencyHistogram histogram;
  histogram.Record(nanoseconds(123'456'789));
  for (const double q : {0.0, 0.5, 0.999, 1.0}) {
    EXPECT_EQ(histogram.Quantile(q), nanoseconds(123'456'789)) << q;
  }
}

// Each value on both sides of every power of two, and a walk between them.
TEST(LatencyHistogramTest, NoValueIsOffByMoreThanHalfAPercent) {
  for (int64_t value = 1; value < LatencyHistogram::kLargest.count(); value += value / 97 + 1) {
    LatencyHistogram histogram;
    histogram.Record(nanoseconds(value));
    // Others at both ends keep the answer from being clamped to min() and max().
    histogram.Record(nanoseconds(0));
    histogram.Record(LatencyHistogram::kLargest);
    const auto seen = static_cast<double>(histogram.Quantile(0.5).count());
    EXPECT_NEAR(seen, static_cast<double>(value), 0.005 * static_cast<double>(value)) << value;
  }
}

TEST(LatencyHistogramTest, BucketsAreInOrderAcrossPowersOfTwo) {
  nanoseconds last(-1);
  for (int64_t power = 1; power < LatencyHistogram::kLargest.count(); power *= 2) {
    for (const int64_t value : {power - 1, power, power + power / 2}) {
      LatencyHistogram histogram;
      histogram.Record(nanoseconds(0));
      histogram.Record(nanoseconds(value));
      histogram.Record(LatencyHistogram::kLargest);
      const nanoseconds seen = histogram.Quantile(0.5);
      EXPECT_GE(seen, last) << value;
      last = seen;
    }
  }
}

TEST(LatencyHistogramTest, OutOfRangeCountsAsTheNearest) {
  LatencyHistogram histogram;
  histogram.Record(nanoseconds(-5));
  histogram.Record(nanoseconds::max());
  EXPECT_EQ(histogram.count(), 2U);
  EXPECT_EQ(histogram.min(), nanoseconds(0));
  EXPECT_EQ(histogram.max(), LatencyHistogram::kLargest);
  EXPECT_EQ(histogram.Quantile(-1), nanoseconds(0));
  EXPECT_GE(histogram.Quantile(7), LatencyHistogram::kLargest * 99 / 100);
}

TEST(LatencyHistogramTest, AFewSlowCallsShowOnlyBeyondTheirShare) {
  LatencyHistogram histogram;
  for (int i = 0; i < 998; ++i) {
    histogram.Record(nanoseconds(10'000));
  }
  histogram.Record(nanoseconds(5'000'000));
  histogram.Record(nanoseconds(5'000'000));
  EXPECT_NEAR(static_cast<double>(histogram.Quantile(0.99).count()), 10'000, 50);
  EXPECT_NEAR(static_cast<double>(histogram.Quantile(0.999).count()), 5'000'000, 25'000);
}

TEST(LatencyHistogramTest, MergeIsTheSameAsRecordingAllInOne) {
  LatencyHistogram all;
  LatencyHistogram odd;
  LatencyHistogram even;
  for (int64_t i = 1; i <= 10'000; ++i) {
    const nanoseconds value(i * i);
    all.Record(value);
    (i % 2 != 0 ? odd : even).Record(value);
  }
  odd.Merge(even);
  EXPECT_EQ(odd.count(), all.count());
  EXPECT_EQ(odd.min(), all.min());
  EXPECT_EQ(odd.max(), all.max());
  EXPECT_DOUBLE_EQ(odd.mean_ns(), all.mean_ns());
  for (const double q : {0.1, 0.5, 0.9, 0.99, 0.999}) {
    EXPECT_EQ(odd.Quantile(q), all.Quantile(q)) << q;
  }
}

TEST(LatencyHistogramTest, MergingAnEmptyOneChangesNothing) {
  LatencyHistogram histogram;
  histogram.Record(nanoseconds(77));
  histogram.Merge(LatencyHistogram());
  EXPECT_EQ(histogram.min(), nanoseconds(77));
  EXPECT_EQ(histogram.max(), nanoseconds(77));
  EXPECT_EQ(histogram.count(), 1U);
}

}  // namespace
}  // namespace farcall::bench
