// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/common/figures/number_text.h"

#include "gtest/gtest.h"

namespace farcall::bench {
namespace {

TEST(NumberTextTest, KeepsThreeDigits) {
  EXPECT_EQ(NumberText(0), "0");
  EXPECT_EQ(NumberText(0.25), "0.25");
  EXPECT_EQ(NumberText(9.314), "9.31");
  EXPECT_EQ(NumberText(47.24), "47.2");
  EXPECT_EQ(NumberText(814.4), "814");
}

TEST(NumberTextTest, RoundingUpMakesNoFourthDigit) {
  EXPECT_EQ(NumberText(9.996), "10.0");
  EXPECT_EQ(NumberText(99.96), "100");
  EXPECT_EQ(NumberText(999.6), "1,000");
}

TEST(NumberTextTest, SeparatesThousands) {
  EXPECT_EQ(NumberText(1000), "1,000");
  EXPECT_EQ(NumberText(97768), "97,768");
  EXPECT_EQ(NumberText(100000), "100,000");
  EXPECT_EQ(NumberText(1234567), "1,234,567");
}

TEST(NumberTextTest, CountsHaveNoPoint) {
  EXPECT_EQ(CountText(0), "0");
  EXPECT_EQ(CountText(7), "7");
  EXPECT_EQ(CountText(1000), "1,000");
  EXPECT_EQ(CountText(UINT64_MAX), "18,446,744,073,709,551,615");
}

TEST(NumberTextTest, ShowsTimesInMicroseconds) {
  EXPECT_EQ(MicrosText(std::chrono::nanoseconds(9)), "0.01");
  EXPECT_EQ(MicrosText(std::chrono::nanoseconds(10'040)), "10.0");
  EXPECT_EQ(MicrosText(std::chrono::milliseconds(12)), "12,000");
}

}  // namespace
}  // namespace farcall::bench
