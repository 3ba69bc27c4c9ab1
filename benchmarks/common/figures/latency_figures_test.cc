// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/common/figures/latency_figures.h"

#include <chrono>

#include "gtest/gtest.h"

namespace farcall::bench {
namespace {

using std::chrono::microseconds;

// 1 to 10,000 us, each once.
LatencyFigures Seen() {
  LatencyHistogram latency;
  for (int i = 1; i <= 10'000; ++i) latency.Record(microseconds(i));
  return LatencyFigures::From(latency);
}

TEST(LatencyFiguresTest, EachIsWhatItsNameSays) {
  const LatencyFigures figures = Seen();
  EXPECT_DOUBLE_EQ(figures.mean_us, 5000.5);
  EXPECT_NEAR(figures.p50_us, 5000, 20);
  EXPECT_NEAR(figures.p90_us, 9000, 36);
  EXPECT_NEAR(figures.p99_us, 9900, 40);
  EXPECT_NEAR(figures.p999_us, 9990, 40);
  EXPECT_NEAR(figures.p9999_us, 9999, 40);
  EXPECT_DOUBLE_EQ(figures.max_us, 10'000);
}

TEST(LatencyFiguresTest, TextIsForPeople) {
  LatencyFigures figures;
  figures.mean_us = 171.4;
  figures.p50_us = 33.44;
  figures.p9999_us = 10'781;
  EXPECT_EQ(figures.ToText(), "mean 171, p50 33.4, p90 0, p99 0, p99.9 0, p99.99 10,781, max 0");
}

TEST(LatencyFiguresTest, JsonHasEachByItsName) {
  LatencyFigures figures{1, 2, 3, 4, 5, 6, 7.5};
  JsonObject json;
  figures.AddTo(json);
  EXPECT_EQ(json.ToString(),
            R"({"mean_us": 1, "p50_us": 2, "p90_us": 3, "p99_us": 4, "p999_us": 5, )"
            R"("p9999_us": 6, "max_us": 7.5})");
}

TEST(LatencyFiguresTest, WithoutCallsAllAreZero) {
  JsonObject json;
  LatencyFigures::From(LatencyHistogram()).AddTo(json);
  EXPECT_EQ(json.ToString(),
            R"({"mean_us": 0, "p50_us": 0, "p90_us": 0, "p99_us": 0, "p999_us": 0, )"
            R"("p9999_us": 0, "max_us": 0})");
}

}  // namespace
}  // namespace farcall::bench
