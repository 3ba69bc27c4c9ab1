// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/common/cpu_watch.h"

#include <chrono>

#include "gtest/gtest.h"

namespace farcall::bench {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

LoadWindow WindowFromNow() {
  const Clock::time_point now = Clock::now();
  return {now, now + milliseconds(5), now + milliseconds(10)};
}

TEST(CpuWatchTest, ReadsBothSidesAtBothEnds) {
  const LoadWindow window = WindowFromNow();
  int asked = 0;
  const absl::StatusOr<CpuReadings> readings = WatchCpu(window, [&]() -> absl::StatusOr<CpuSample> {
    EXPECT_GE(Clock::now(), asked == 0 ? window.begin : window.end);
    ++asked;
    return CpuSample{static_cast<double>(asked), 10.0 * asked};
  });
  ASSERT_TRUE(readings.ok()) << readings.status();
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(readings->server_first.cpu_seconds, 1);
  EXPECT_EQ(readings->server_last.clock_seconds, 20);
  EXPECT_GT(readings->client_last.clock_seconds, readings->client_first.clock_seconds);
}

TEST(CpuWatchTest, ASilentServerEndsTheWatchAtOnce) {
  int asked = 0;
  const absl::StatusOr<CpuReadings> readings =
      WatchCpu(WindowFromNow(), [&]() -> absl::StatusOr<CpuSample> {
        ++asked;
        return absl::UnavailableError("gone");
      });
  EXPECT_EQ(readings.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(asked, 1);
}

TEST(CpuWatchTest, ReadingsBecomeMicrosecondsPerCall) {
  LoadReport report;
  report.qps = 1000;
  CpuReadings readings;
  readings.client_last = {1, 2};
  readings.server_last = {1, 4};
  readings.WriteTo(report);
  EXPECT_DOUBLE_EQ(report.client_cpu_us, 500);
  EXPECT_DOUBLE_EQ(report.server_cpu_us, 250);
}

}  // namespace
}  // namespace farcall::bench
