// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/server/limits/memory_holders.h"

#include <gtest/gtest.h>

namespace farcall {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr TimePoint kStart{std::chrono::seconds(100)};

class MemoryHoldersTest : public ::testing::Test {
 protected:
  MemoryHolders holders_;
  const int large_ = 0;
  const int middle_ = 0;
  const int small_ = 0;
};

TEST_F(MemoryHoldersTest, WhoHoldsMostGoesFirstAndThenTheNext) {
  holders_.Report(&middle_, 5 * kMiB, 0);
  holders_.Report(&large_, 9 * kMiB, 0);
  holders_.Report(&small_, kMiB, 0);
  EXPECT_EQ(holders_.Pick(7), nullptr) << "it is not known when those were refused";
  EXPECT_EQ(holders_.Pick(7), nullptr) << "none since";
  EXPECT_EQ(holders_.Pick(8), &large_);
  EXPECT_EQ(holders_.Pick(8), nullptr) << "there is memory again";
  EXPECT_EQ(holders_.Pick(20), &middle_);
  EXPECT_EQ(holders_.Pick(21), &small_);
  EXPECT_EQ(holders_.Pick(22), nullptr);
}

TEST_F(MemoryHoldersTest, WhoMovesStays) {
  holders_.Report(&large_, 8 * kMiB, kMiB);
  holders_.Report(&small_, kMiB, kMiB / 8 - 1);
  EXPECT_EQ(holders_.Pick(0), nullptr);
  EXPECT_EQ(holders_.Pick(1), &small_);
  EXPECT_EQ(holders_.Pick(2), nullptr);
  holders_.Report(&large_, 8 * kMiB, kMiB - 1);
  EXPECT_EQ(holders_.Pick(3), &large_) << "it did not go on";
}

TEST_F(MemoryHoldersTest, TheLastWordCounts) {
  holders_.Report(&large_, 9 * kMiB, 0);
  holders_.Report(&middle_, 5 * kMiB, 0);
  holders_.Report(&large_, 4 * kMiB, 0);
  EXPECT_EQ(holders_.Pick(0), nullptr);
  holders_.Forget(&middle_);
  EXPECT_EQ(holders_.Pick(1), &large_);
}

TEST_F(MemoryHoldersTest, WhatWasRefusedWhileNobodyHeldMuchDoesNotCount) {
  holders_.Report(&large_, 9 * kMiB, 0);
  EXPECT_EQ(holders_.Pick(1), nullptr);
  holders_.Forget(&large_);
  holders_.Report(&middle_, 5 * kMiB, 0);
  EXPECT_EQ(holders_.Pick(5), nullptr);
  EXPECT_EQ(holders_.Pick(6), &middle_);
}

TEST_F(MemoryHoldersTest, ThePoolIsAskedNowAndThen) {
  EXPECT_TRUE(holders_.IsDue(kStart));
  EXPECT_FALSE(holders_.IsDue(kStart + MemoryHolders::kEach - Duration(1)));
  EXPECT_TRUE(holders_.IsDue(kStart + MemoryHolders::kEach));
  EXPECT_FALSE(holders_.IsDue(kStart + MemoryHolders::kEach));
}

}  // namespace
}  // namespace farcall
