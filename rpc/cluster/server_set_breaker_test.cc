// SPDX-License-Identifier: Apache-2.0
//
// The circuit breaker of a set.

#include "rpc/cluster/server_set_testing.h"

namespace farcall {
namespace {

TEST_F(ServerSetTest, TheBreakerTakesOutWhoFailsAndBringsItBackSlowly) {
  options_.circuit_breaker.enabled = true;
  Make(3);
  Calls(1, 10, Outcome::kFailure);
  EXPECT_EQ(View(1).state, State::kBroken);
  EXPECT_EQ(Picked(100), (std::set<ServerId>{2, 3}));
  EXPECT_EQ(set_->next_event(), std::nullopt) << "it needs no probe";
  now_ = *View(1).next_try;
  Pick();
  EXPECT_EQ(View(1).state, State::kSlowStart);
  now_ += milliseconds(1000);
  EXPECT_EQ(Picked(100), (std::set<ServerId>{1, 2, 3}));
}

TEST_F(ServerSetTest, TheBreakerLeavesHalfOfTheServers) {
  options_.circuit_breaker.enabled = true;
  Make(4);
  for (ServerId id : {1, 2, 3, 4}) Calls(id, 20, Outcome::kFailure);
  EXPECT_EQ(Picked(100), (std::set<ServerId>{3, 4}));
  // When those die, one that can be reached is better than none.
  Fall(3);
  Fall(4);
  EXPECT_EQ(Picked(100), (std::set<ServerId>{1, 2}));
}

TEST_F(ServerSetTest, WhereAllThatIsLeftIsBrokenTheLeastBadIsPicked) {
  options_.circuit_breaker.enabled = true;
  Make(4);
  Calls(1, 10, Outcome::kFailure);
  Calls(2, 4, Outcome::kSuccess);
  Calls(2, 6, Outcome::kFailure);
  EXPECT_EQ(View(2).state, State::kBroken);
  Fall(3);
  Fall(4);
  EXPECT_EQ(Picked(100), std::set<ServerId>{2});
  EXPECT_NE(Pick({2}), 2u);
}

TEST_F(ServerSetTest, WithoutTheBreakerFailuresAreOnlySeen) {
  Make(2);
  Calls(1, 100, Outcome::kFailure, milliseconds(3));
  EXPECT_EQ(View(1).state, State::kServing);
  EXPECT_EQ(View(1).error_rate, 1);
  EXPECT_EQ(View(1).latency, milliseconds(3));
  EXPECT_EQ(Picked(100), (std::set<ServerId>{1, 2}));
}

TEST_F(ServerSetTest, TheBreakerComparesLatencyWithThePeers) {
  options_.circuit_breaker.enabled = true;
  options_.circuit_breaker.latency_factor = 10;
  Make(3);
  Calls(2, 10, Outcome::kSuccess, milliseconds(1));
  Calls(3, 10, Outcome::kSuccess, milliseconds(2));
  Calls(1, 10, Outcome::kSuccess, milliseconds(19));
  EXPECT_EQ(View(1).state, State::kServing);
  Calls(1, 20, Outcome::kSuccess, milliseconds(40));
  EXPECT_EQ(View(1).state, State::kBroken);
}

TEST_F(ServerSetTest, WhatWasAwayIsNotJudgedForWhatWasBefore) {
  options_.circuit_breaker.enabled = true;
  Make(3);
  Calls(1, 10, Outcome::kFailure);
  Fall(1);
  EXPECT_EQ(View(1).state, State::kDown);
  now_ += milliseconds(500);
  set_->DueProbes(now_);
  set_->OnProbe(1, true, now_);
  EXPECT_EQ(View(1).state, State::kSlowStart);
  // But one whose connection broke is the one that it was.
  Calls(2, 10, Outcome::kFailure);
  Fall(2);
  set_->OnProbe(2, true, now_);
  EXPECT_EQ(View(2).state, State::kBroken);
}

// The calls that were under way as its connection broke, and those that found none.
TEST_F(ServerSetTest, WhatIsBackIsNotJudgedForWhatFailedWhileItWasAway) {
  options_.circuit_breaker.enabled = true;
  Make(3);
  Fall(1);
  Calls(1, 10, Outcome::kFailure);
  now_ += milliseconds(500);
  set_->DueProbes(now_);
  set_->OnProbe(1, true, now_);
  Calls(1, 1, Outcome::kSuccess);
  EXPECT_EQ(View(1).state, State::kSlowStart);
  // It was not broken, so it is not on trial: its window fills first.
  Calls(1, 8, Outcome::kFailure);
  EXPECT_EQ(View(1).state, State::kSlowStart);
  Calls(1, 1, Outcome::kFailure);
  EXPECT_EQ(View(1).state, State::kBroken);
}

}  // namespace
}  // namespace farcall
