// SPDX-License-Identifier: Apache-2.0
//
// The client's side of an upgrade, where each rail has ports of its own.

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "transport/link/upgrade/client_upgrade_machine.h"

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
    ASSERT_EQ(client_.OnTime(now_), ClientUpgradeMachine::Do::kAsk);
    ASSERT_EQ(client_.OnOffer(client_.generation()), ClientUpgradeMachine::Do::kConnect);
  }
  void Connected(absl::string_view rail) {
    Ask();
    client_.OnConnected(now_, client_.generation(), rail);
  }
  void ConnectInVain() {
    Ask();
    client_.OnLost(now_, client_.generation(), kNoneLeft);
  }

  TimePoint now_ = TimePoint(seconds(1000));
  ClientUpgradeMachine client_{UpgradeTimes(), 1, kMaxRails, /*apart=*/true};
};

TEST_F(UpgradeApartTest, OneMoreIsAskedForAtOnceUntilNoPortIsLeftAndThenEverMoreRarely) {
  const TimePoint start = now_;
  Connected("a");
  Connected("b");
  EXPECT_EQ(now_, start);
  for (int i = 0; i < 12; ++i) ConnectInVain();
  EXPECT_EQ(client_.rails(), 2u);
  const TimePoint last = now_;
  ConnectInVain();
  EXPECT_GE(now_ - last, seconds(30));
  EXPECT_LE(now_ - last, seconds(60));
}

TEST_F(UpgradeApartTest, WhatComesIsAskedForSoon) {
  Connected("a");
  for (int i = 0; i < 12; ++i) ConnectInVain();
  client_.RetrySoon(now_);
  EXPECT_LE(*client_.next() - now_, seconds(1));
  Connected("b");
  EXPECT_EQ(client_.rails(), 2u);
}

TEST_F(UpgradeApartTest, APlaceThatErrsRestsAndOthersAreAskedFor) {
  Connected("a");
  for (int i = 0; i < 3; ++i) {
    Connected("b");
    EXPECT_TRUE(client_.Resting(now_).empty());
    client_.OnLost(now_, client_.generation(), kBroke);
  }
  EXPECT_EQ(client_.Resting(now_), std::vector<std::string>{"b"});
  EXPECT_LE(*client_.next() - now_, minutes(1));
  const TimePoint asked = now_;
  Connected("c");
  EXPECT_LT(now_ - asked, seconds(10)) << "the rest is of one place";
  EXPECT_TRUE(client_.Resting(asked + seconds(31)).empty());
}

TEST_F(UpgradeApartTest, TheOnlyOneDoesNotRest) {
  for (int i = 0; i < 3; ++i) {
    Connected("a");
    client_.OnLost(now_, client_.generation(), kBroke);
  }
  EXPECT_TRUE(client_.Resting(now_).empty());
}

}  // namespace
}  // namespace farcall
