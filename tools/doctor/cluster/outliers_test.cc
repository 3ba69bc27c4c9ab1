// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/cluster/outliers.h"

#include <gtest/gtest.h>

namespace farcall::doctor {
namespace {

using Values = std::vector<std::optional<double>>;
using Marks = std::vector<bool>;

TEST(OutliersTest, MuchMoreLatencyThanTheBetterQuarter) {
  const auto found = OutliersOf({10, 11, std::nullopt, 12, 30, 10.5}, Better::kLess);
  EXPECT_EQ(found.is, (Marks{false, false, false, false, true, false}));
  EXPECT_EQ(found.expected, 10.5);
}

TEST(OutliersTest, MuchLessBandwidth) {
  const auto found = OutliersOf({100, 90, 95, 60, 98}, Better::kMore);
  EXPECT_EQ(found.is, (Marks{false, false, false, true, false}));
  EXPECT_EQ(found.expected, 98);
}

TEST(OutliersTest, BetterThanAllIsNone) {
  EXPECT_EQ(OutliersOf({10, 10, 10, 10, 1}, Better::kLess).is, Marks(5, false));
  EXPECT_EQ(OutliersOf({10, 10, 10, 10, 99}, Better::kMore).is, Marks(5, false));
}

TEST(OutliersTest, TheBoundItselfIsNone) {
  EXPECT_EQ(OutliersOf({10, 10, 10, 15}, Better::kLess).is, Marks(4, false));
  EXPECT_EQ(OutliersOf({15, 15, 15, 10}, Better::kMore).is, Marks(4, false));
}

TEST(OutliersTest, WhatMostHaveIsHowTheClusterIs) {
  EXPECT_EQ(OutliersOf({10, 10, 10, 30, 30, 30}, Better::kLess).is,
            (Marks{false, false, false, true, true, true}));
  EXPECT_EQ(OutliersOf({10, 10, 30, 30, 30}, Better::kLess).is, Marks(5, false));
}

TEST(OutliersTest, FewOrNone) {
  EXPECT_EQ(OutliersOf({1, 1, 100}, Better::kLess).is, Marks(3, false));
  EXPECT_EQ(OutliersOf({1, std::nullopt, 1, 100}, Better::kLess).is, Marks(4, false));
  EXPECT_EQ(OutliersOf({}, Better::kLess).expected, 0);
  EXPECT_EQ(OutliersOf({std::nullopt}, Better::kMore).is, Marks(1, false));
}

}  // namespace
}  // namespace farcall::doctor
