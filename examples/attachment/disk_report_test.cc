// SPDX-License-Identifier: Apache-2.0

#include "examples/attachment/disk_report.h"

#include <chrono>

#include "gtest/gtest.h"

namespace example {
namespace {

using std::chrono::microseconds;

TEST(DiskReportTest, HasIopsBandwidthAndLatencies) {
  farcall::bench::CallCounts counts;
  for (int i = 0; i < 20'000; ++i) counts.latency.Record(microseconds(100));
  EXPECT_EQ(DiskReport("read", 4096, 2, counts),
            "  read: IOPS=10.0k, BW=39.1MiB/s (41.0MB/s), 20,000 in 2.00 s\n"
            "    clat (us): min=100, avg=100, p50=100, p99=100, p99.9=100, p99.99=100, max=100\n");
}

TEST(DiskReportTest, ShortensIopsAsFioDoes) {
  farcall::bench::CallCounts counts;
  for (int i = 0; i < 100; ++i) counts.latency.Record(microseconds(100));
  EXPECT_NE(DiskReport("write", 512, 1, counts).find("IOPS=100,"), std::string::npos);
  EXPECT_NE(DiskReport("write", 512, 0.1, counts).find("IOPS=1.00k,"), std::string::npos);
  EXPECT_NE(DiskReport("write", 512, 0.0001, counts).find("IOPS=1.00M,"), std::string::npos);
}

TEST(DiskReportTest, ErrorsHaveALineOfTheirOwn) {
  farcall::bench::CallCounts counts;
  counts.Fail(34, "there are 7 blocks");
  EXPECT_EQ(DiskReport("write", 4096, 1, counts),
            "  write: IOPS=0, BW=0MiB/s (0MB/s), 0 in 1.00 s\n"
            "    clat (us): min=0, avg=0, p50=0, p99=0, p99.9=0, p99.99=0, max=0\n"
            "    errors: 1 calls failed with 34, the first: there are 7 blocks\n");
}

}  // namespace
}  // namespace example
