// SPDX-License-Identifier: Apache-2.0

#include "transport/link/upgrade/rail_rest.h"

#include <chrono>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr TimePoint kStart{std::chrono::hours(1)};

// Three times within a second, the last time at `now`.
void Err(RailRest& rest, TimePoint now, absl::string_view rail = "a") {
  for (int i = 2; i >= 0; --i) rest.OnError(rail, now - i * milliseconds(500));
}

TEST(RailRestTest, ThreeErrorsInTenSecondsAreARest) {
  RailRest rest(seconds(30), minutes(5));
  rest.OnError("a", kStart);
  rest.OnError("a", kStart + seconds(9));
  EXPECT_LE(rest.Until(2, 1), kStart);
  rest.OnError("a", kStart + seconds(10));
  EXPECT_LE(rest.Until(2, 1), kStart) << "the first is too long ago";
  rest.OnError("a", kStart + seconds(11));
  EXPECT_EQ(rest.Until(2, 1), kStart + seconds(41));
}

TEST(RailRestTest, RestsDoubleUpToFiveMinutesAndBeginAnewAfterAsManyGoodOnes) {
  RailRest rest(seconds(30), minutes(5));
  TimePoint now = kStart;
  for (const int length : {30, 60, 120, 240, 300, 300}) {
    Err(rest, now);
    EXPECT_EQ(rest.Until(2, 1), now + seconds(length));
    now += seconds(length) + minutes(4);
  }
  now += minutes(2);
  Err(rest, now);
  EXPECT_EQ(rest.Until(2, 1), now + seconds(30));
}

TEST(RailRestTest, ErrorsOfOthersDoNotCount) {
  RailRest rest(seconds(30), minutes(5));
  rest.OnError("a", kStart);
  rest.OnError("b", kStart);
  rest.OnError("c", kStart);
  EXPECT_LE(rest.Until(3, 2), kStart);
}

TEST(RailRestTest, AsManyMayBeThereAsDoNotRest) {
  RailRest rest(seconds(30), minutes(5));
  Err(rest, kStart, "a");
  Err(rest, kStart + seconds(5), "b");
  EXPECT_LE(rest.Until(4, 1), kStart) << "two of four do not rest";
  EXPECT_EQ(rest.Until(4, 2), kStart + seconds(30));
  EXPECT_EQ(rest.Until(4, 3), kStart + seconds(35));
  EXPECT_LE(rest.Until(4, 4), kStart);
}

TEST(RailRestTest, TheOnlyOneDoesNotRest) {
  RailRest rest(seconds(30), minutes(5));
  Err(rest, kStart);
  EXPECT_LE(rest.Until(2, 0), kStart);
}

TEST(RailRestTest, SaysWhichRest) {
  RailRest rest(seconds(30), minutes(5));
  Err(rest, kStart, "a");
  Err(rest, kStart + seconds(5), "b");
  rest.OnError("c", kStart);
  EXPECT_EQ(rest.Resting(kStart + seconds(29)), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(rest.Resting(kStart + seconds(30)), std::vector<std::string>{"b"});
  EXPECT_TRUE(rest.Resting(kStart + seconds(35)).empty());
}

TEST(RailRestTest, WhatErredLongAgoIsForgottenForOthers) {
  RailRest rest(seconds(30), minutes(5));
  Err(rest, kStart, "a");
  for (int i = 0; i < 20; ++i) rest.OnError(absl::StrCat("other ", i), kStart);
  EXPECT_LE(rest.Until(2, 1), kStart);
}

}  // namespace
}  // namespace farcall
