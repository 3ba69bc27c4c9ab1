// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/common/cpu_usage.h"

#include <chrono>

#include "gtest/gtest.h"

namespace farcall::bench {
namespace {

TEST(CpuUsageTest, ComputingTakesCpuTime) {
  const double before = ProcessCpuSeconds();
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  double after = before;
  while (after < before + 0.01 && std::chrono::steady_clock::now() < limit) {
    after = ProcessCpuSeconds();
  }
  EXPECT_GE(after, before + 0.01);
}

TEST(CpuUsageTest, ASampleReadsBothClocks) {
  const CpuSample first = CpuSample::Now();
  const CpuSample last = CpuSample::Now();
  EXPECT_GE(first.cpu_seconds, 0);
  EXPECT_GT(first.clock_seconds, 0);
  EXPECT_GE(last.cpu_seconds, first.cpu_seconds);
  EXPECT_GE(last.clock_seconds, first.clock_seconds);
}

TEST(CpuUsageTest, BusyCoresIsCpuTimeOverTime) {
  EXPECT_DOUBLE_EQ(BusyCores({1, 10}, {2.5, 11}), 1.5);
  EXPECT_DOUBLE_EQ(BusyCores({1, 10}, {1, 11}), 0);
}

TEST(CpuUsageTest, BusyCoresOfNoTimeIsZero) {
  EXPECT_EQ(BusyCores({1, 10}, {2, 10}), 0);
  EXPECT_EQ(BusyCores({}, {}), 0);
}

}  // namespace
}  // namespace farcall::bench
