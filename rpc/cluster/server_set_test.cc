// SPDX-License-Identifier: Apache-2.0

#include "rpc/cluster/server_set_testing.h"

namespace farcall {
namespace {

// "list://storage-0:8002,storage-1:8002": names that are resolved when they are connected to.
TEST_F(ServerSetTest, ServersWithoutAnAddressAreToldApartByTheirNames) {
  std::vector<ServerNode> nodes(3);
  nodes[0].host = "storage-0:8002";
  nodes[1].host = "storage-1:8002";
  nodes[2].host = "storage-1:8002";
  ServerSet set(options_, 1);
  EXPECT_EQ(set.Update(nodes, now_).added.size(), 2u);
}

// The loser of a backup request tells how slow its server is, and not that it lives.
TEST_F(ServerSetTest, AnAttemptThatNobodyWaitedForTellsOnlyItsTime) {
  Make(2);
  Fall(1);
  Calls(1, 20, Outcome::kUnanswered, milliseconds(30));
  EXPECT_EQ(View(1).state, State::kDown);
  EXPECT_GE(View(1).latency, milliseconds(10));
  EXPECT_EQ(View(1).in_flight, 0);
}

TEST_F(ServerSetTest, AnEmptySetHasNoServer) {
  ServerSet set(options_, 1);
  EXPECT_EQ(set.Pick(std::nullopt, {}, now_), std::nullopt);
  EXPECT_EQ(set.next_event(), std::nullopt);
  EXPECT_TRUE(set.DueProbes(now_).empty());
  EXPECT_TRUE(set.Views(now_).empty());
}

TEST_F(ServerSetTest, UpdateTellsWhatChanged) {
  Make(3);
  ServerSet::Change change = set_->Update({Node(4), Node(2), Node(2), Node(1)}, now_);
  ASSERT_EQ(change.added.size(), 1u);
  EXPECT_EQ(change.added[0].id, 4u);
  EXPECT_EQ(change.added[0].node.address.port(), 4);
  EXPECT_EQ(change.removed, std::vector<ServerId>{3});
  EXPECT_EQ(set_->size(), 3u);
  change = set_->Update({Node(1), Node(2), Node(4)}, now_);
  EXPECT_TRUE(change.added.empty());
  EXPECT_TRUE(change.removed.empty());
  EXPECT_EQ(set_->Update({}, now_).removed.size(), 3u);
  EXPECT_EQ(set_->Pick(std::nullopt, {}, now_), std::nullopt);
  // The same address is another server now.
  EXPECT_EQ(set_->Update(Nodes(1), now_).added[0].id, 5u);
}

TEST_F(ServerSetTest, AddressAndTagMakeAServer) {
  Make(1);
  EXPECT_EQ(set_->Update({Node(1), Node(1, "a"), Node(1, "b")}, now_).added.size(), 2u);
  EXPECT_EQ(set_->Update({Node(1, "b")}, now_).removed.size(), 2u);
}

TEST_F(ServerSetTest, ThoseThatStayKeepTheirStateAndTheirCalls) {
  Make(2);
  Fall(1);
  set_->OnStart(2);
  set_->Update({Node(3), Node(2, "", 7), Node(1)}, now_);
  EXPECT_EQ(View(1).state, State::kDown);
  EXPECT_EQ(View(2).in_flight, 1);
  EXPECT_EQ(View(2).node.weight, 7);
  EXPECT_EQ(View(3).state, State::kSlowStart) << "it is new among others";
}

TEST_F(ServerSetTest, EventsOfServersThatAreGoneAreIgnored) {
  Make(2);
  set_->OnStart(1);
  set_->Update({Node(2)}, now_);
  set_->OnEnd(1, Outcome::kFailure, milliseconds(1), now_);
  set_->OnStart(1);
  Fall(1);
  set_->OnLeaving(1, now_);
  set_->OnProbe(1, true, now_);
  set_->OnStart(0);
  EXPECT_EQ(Pick(), 2u);
  EXPECT_EQ(set_->next_event(), std::nullopt);
}

TEST_F(ServerSetTest, TheOnlyServerIsPickedWhateverItsState) {
  Make(1);
  EXPECT_EQ(Pick({1}), 1u);
  Fall(1);
  EXPECT_EQ(Pick(), 1u);
  EXPECT_EQ(View(1).state, State::kDown);
  Calls(1, 1, Outcome::kSuccess);
  EXPECT_EQ(View(1).state, State::kServing) << "it answered soon after";
}

TEST_F(ServerSetTest, ATriedServerIsNotPickedWhileAnotherLives) {
  Make(3);
  EXPECT_EQ(Picked(100, {1}), (std::set<ServerId>{2, 3}));
  EXPECT_EQ(Picked(100, {1, 3}), std::set<ServerId>{2});
  EXPECT_EQ(Picked(100, {1, 2, 3}), (std::set<ServerId>{1, 2, 3}));
  Fall(2);
  EXPECT_EQ(Picked(100, {1}), std::set<ServerId>{3});
  EXPECT_EQ(Picked(100, {1, 3}), (std::set<ServerId>{1, 3})) << "rather than one that is down";
}

TEST_F(ServerSetTest, WhereNoneLivesCallsFindOut) {
  Make(3);
  for (ServerId id : {1, 2, 3}) Fall(id);
  EXPECT_EQ(Picked(100), (std::set<ServerId>{1, 2, 3}));
  EXPECT_EQ(Picked(100, {2, 3}), std::set<ServerId>{1});
  Calls(2, 1, Outcome::kSuccess);
  EXPECT_EQ(Picked(100), std::set<ServerId>{2});
}

TEST_F(ServerSetTest, ADeadServerIsProbedAndComesBackSlowly) {
  Make(2);
  Fall(1);
  EXPECT_EQ(View(1).next_try, now_);
  EXPECT_EQ(Picked(100), std::set<ServerId>{2});
  EXPECT_EQ(set_->next_event(), now_);
  EXPECT_EQ(set_->DueProbes(now_), std::vector<ServerId>{1});
  EXPECT_TRUE(set_->DueProbes(now_).empty());
  EXPECT_EQ(set_->next_event(), std::nullopt);
  set_->OnProbe(1, false, now_);
  ASSERT_TRUE(set_->next_event());
  EXPECT_GT(*set_->next_event(), now_);
  now_ += milliseconds(150);
  EXPECT_EQ(set_->DueProbes(now_), std::vector<ServerId>{1});
  set_->OnProbe(1, true, now_);
  EXPECT_EQ(View(1).state, State::kSlowStart);
  now_ += milliseconds(1000);
  EXPECT_EQ(View(1).state, State::kServing);
}

TEST_F(ServerSetTest, OneBrokenConnectionCostsNoSlowStart) {
  Make(2);
  Fall(1);
  set_->DueProbes(now_);
  now_ += milliseconds(1);
  set_->OnProbe(1, true, now_);
  EXPECT_EQ(View(1).state, State::kServing);
}

TEST_F(ServerSetTest, OneThatLeavesGetsNoCalls) {
  Make(2);
  set_->OnLeaving(1, now_);
  EXPECT_EQ(Picked(100), std::set<ServerId>{2});
}

TEST_F(ServerSetTest, TellsWhetherThereIsAnotherToGoTo) {
  Make(3);
  const auto any_untried = [&](const std::vector<ServerId>& tried) {
    return set_->AnyUntried(tried);
  };
  EXPECT_TRUE(any_untried({}));
  EXPECT_TRUE(any_untried({1, 2}));
  EXPECT_FALSE(any_untried({1, 2, 3}));
  Fall(2);
  Fall(3);
  EXPECT_FALSE(any_untried({1})) << "the others are down";
  Fall(1);
  EXPECT_TRUE(any_untried({1})) << "so are all";
  EXPECT_NE(Pick({1}), 1u);
  EXPECT_FALSE(any_untried({1, 2, 3}));
}

TEST_F(ServerSetTest, IgnoredAttemptsSayNothingOfTheServer) {
  options_.circuit_breaker.enabled = true;
  Make(2);
  Calls(1, 100, Outcome::kIgnored, seconds(1));
  EXPECT_EQ(View(1).error_rate, 0);
  EXPECT_EQ(View(1).latency, Duration::zero());
  EXPECT_EQ(View(1).in_flight, 0);
}

}  // namespace
}  // namespace farcall
