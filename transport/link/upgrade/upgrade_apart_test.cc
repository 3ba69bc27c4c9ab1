// SPDX-License-Identifier: Apache-2.0
//
// The client's side of an upgrade, where each rail has ports of its own.

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "transport/link/upgrade/upgrade_client.h"

namespace farcall {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const absl::Status kBroke = NotRdma(WhyNotRdma::kBroken, "cable");
const absl::Status kNoneLeft = absl::AlreadyExistsError("no port is left");

class UpgradeApartTest : public testing::Test {
 protected:
  // Asks when that is due.
  void Ask() {
    ASSERT_TRUE(client_.next().has_value());
    now_ = std::max(now_, *client_.next());
    ASSERT_EQ(client_.OnTime(now_), UpgradeClient::Do::kAsk);
    ASSERT_EQ(client_.OnOffer(client_.generation()), UpgradeClient::Do::kDial);
  }
  void Dial(absl::string_view rail) {
    Ask();
    client_.OnDialled(now_, client_.generation(), rail);
  }
  void DialInVain() {
    Ask();
    client_.OnLost(now_, client_.generation(), kNoneLeft);
  }

  TimePoint now_ = TimePoint(seconds(1000));
  UpgradeClient client_{UpgradeTimes(), 1, kMaxRails, /*apart=*/true};
};

TEST_F(UpgradeApartTest, OneMoreIsAskedForAtOnceUntilNoPortIsLeftAndThenEverMoreRarely) {
  const TimePoint start = now_;
  Dial("a");
  Dial("b");
  EXPECT_EQ(now_, start);
  for (int i = 0; i < 12; ++i) DialInVain();
  EXPECT_EQ(client_.rails(), 2u);
  const TimePoint last = now_;
  DialInVain();
  EXPECT_GE(now_ - last, seconds(30));
  EXPECT_LE(now_ - last, seconds(60));
}

TEST_F(UpgradeApartTest, WhatComesIsAskedForSoon) {
  Dial("a");
  for (int i = 0; i < 12; ++i) DialInVain();
  client_.OnNews(now_);
  EXPECT_LE(*client_.next() - now_, seconds(1));
  Dial("b");
  EXPECT_EQ(client_.rails(), 2u);
}

TEST_F(UpgradeApartTest, APlaceThatErrsRestsAndOthersAreAskedFor) {
  Dial("a");
  for (int i = 0; i < 3; ++i) {
    Dial("b");
    EXPECT_TRUE(client_.Resting(now_).empty());
    client_.OnLost(now_, client_.generation(), kBroke);
  }
  EXPECT_EQ(client_.Resting(now_), std::vector<std::string>{"b"});
  EXPECT_LE(*client_.next() - now_, minutes(1));
  const TimePoint asked = now_;
  Dial("c");
  EXPECT_LT(now_ - asked, seconds(10)) << "the rest is of one place";
  EXPECT_TRUE(client_.Resting(asked + seconds(31)).empty());
}

TEST_F(UpgradeApartTest, TheOnlyOneDoesNotRest) {
  for (int i = 0; i < 3; ++i) {
    Dial("a");
    client_.OnLost(now_, client_.generation(), kBroke);
  }
  EXPECT_TRUE(client_.Resting(now_).empty());
}

}  // namespace
}  // namespace farcall
