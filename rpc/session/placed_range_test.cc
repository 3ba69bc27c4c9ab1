// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/placed_range.h"

#include <gtest/gtest.h>

namespace farcall {
namespace {

TEST(PlacedRangeTest, WithoutAnAttachmentNothingLands) {
  PlacedRange spot;
  EXPECT_EQ(spot.Await(20, 100), 100u);
  EXPECT_EQ(spot.Next(0, 80).bytes, 0u);
  spot.Set(100, 0);
  EXPECT_EQ(spot.Await(100, 120), 120u);
  EXPECT_EQ(spot.Next(0, 80).bytes, 0u);
}

TEST(PlacedRangeTest, WhatStandsBeforeTheAttachmentIsAwaitedFirst) {
  PlacedRange spot;
  spot.Set(100, 60);
  EXPECT_EQ(spot.Await(20, 100), 40u);
  EXPECT_EQ(spot.Next(0, 80).bytes, 0u) << "the payload has no place";
  EXPECT_EQ(spot.Await(40, 100), 100u);
}

TEST(PlacedRangeTest, TheAttachmentLandsAndNothingBehindIt) {
  PlacedRange spot;
  spot.Set(100, 60);
  spot.Await(50, 100);
  EXPECT_EQ(spot.attachment(), 60u);
  const PlacedRange::Part all = spot.Next(0, 1000);
  EXPECT_EQ(all.offset, 10u);
  EXPECT_EQ(all.bytes, 50u);
  const PlacedRange::Part some = spot.Next(20, 7);
  EXPECT_EQ(some.offset, 30u);
  EXPECT_EQ(some.bytes, 7u);
  EXPECT_EQ(spot.Next(50, 7).bytes, 0u);
  EXPECT_EQ(spot.Next(80, 7).bytes, 0u);
}

TEST(PlacedRangeTest, BytesAheadMayReachTheAttachmentBeforeItsHeadIsThere) {
  PlacedRange spot;
  spot.Set(100, 60);
  spot.Await(20, 100);
  EXPECT_EQ(spot.Next(19, 10).bytes, 0u);
  EXPECT_EQ(spot.Next(20, 10).bytes, 10u);
}

TEST(PlacedRangeTest, TheNextFrameBeginsAnew) {
  PlacedRange spot;
  spot.Set(100, 60);
  spot.Await(50, 100);
  spot.Clear();
  EXPECT_EQ(spot.Next(0, 10).bytes, 0u);
  EXPECT_EQ(spot.Await(1, 12), 12u);
}

}  // namespace
}  // namespace farcall
