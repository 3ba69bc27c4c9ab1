// SPDX-License-Identifier: Apache-2.0

#include "transport/link/upgrade/server_upgrade_machine.h"

#include "gtest/gtest.h"

namespace farcall {
namespace {

using State = ServerUpgradeState;

TEST(ServerUpgradeMachineTest, WhatComesOutOfItsTurnChangesNothing) {
  ServerUpgradeMachine server;
  EXPECT_FALSE(server.OnOffered() || server.OnRefused() || server.OnAdmitted());
  ASSERT_TRUE(server.OnAsk(1));
  EXPECT_FALSE(server.OnAdmitted());
  ASSERT_TRUE(server.OnOffered());
  EXPECT_FALSE(server.OnOffered() || server.OnRefused());
  ASSERT_TRUE(server.OnAdmitted());
  EXPECT_FALSE(server.OnOffered() || server.OnRefused() || server.OnAdmitted());
  EXPECT_EQ(server.state(), State::kReady);
}

TEST(ServerUpgradeMachineTest, AskOfferAdmit) {
  ServerUpgradeMachine server;
  EXPECT_TRUE(server.OnAsk(1));
  EXPECT_EQ(server.generation(), 1u);
  EXPECT_TRUE(server.OnOffered());
  EXPECT_TRUE(server.OnAdmitted());
  EXPECT_EQ(server.state(), State::kReady);
}

TEST(ServerUpgradeMachineTest, WhileThereIsOneNoOtherIsAskedFor) {
  ServerUpgradeMachine server;
  ASSERT_TRUE(server.OnAsk(1));
  EXPECT_FALSE(server.OnAsk(2));
  ASSERT_TRUE(server.OnOffered());
  EXPECT_FALSE(server.OnAsk(2));
  ASSERT_TRUE(server.OnAdmitted());
  EXPECT_FALSE(server.OnAsk(2));
  EXPECT_EQ(server.generation(), 1u);
  server.OnLost(1);
  EXPECT_TRUE(server.OnAsk(2));
  EXPECT_EQ(server.generation(), 2u);
}

TEST(ServerUpgradeMachineTest, RefusedIsAskedAgain) {
  ServerUpgradeMachine server;
  ASSERT_TRUE(server.OnAsk(1));
  EXPECT_TRUE(server.OnRefused());
  EXPECT_TRUE(server.OnAsk(2));
}

TEST(ServerUpgradeMachineTest, WhatIsLostBeforeItIsThereIsNotOffered) {
  ServerUpgradeMachine server;
  ASSERT_TRUE(server.OnAsk(2));
  server.OnLost(1);
  EXPECT_EQ(server.state(), State::kPreparing);
  server.OnLost(2);
  EXPECT_FALSE(server.OnOffered());
  EXPECT_FALSE(server.OnAdmitted());
  EXPECT_EQ(server.state(), State::kIdle);
}

// Asked for, offered, admitted.
void Admit(ServerUpgradeMachine& server, uint32_t generation) {
  ASSERT_TRUE(server.OnAsk(generation));
  ASSERT_TRUE(server.OnOffered());
  ASSERT_TRUE(server.OnAdmitted());
}

TEST(ServerUpgradeMachineTest, AdmitsAsManyRailsAsAgreedOn) {
  ServerUpgradeMachine server(2);
  Admit(server, 1);
  EXPECT_EQ(server.state(), State::kIdle);
  EXPECT_TRUE(server.ready(1));
  EXPECT_FALSE(server.busy());
  Admit(server, 2);
  EXPECT_EQ(server.state(), State::kReady);
  EXPECT_FALSE(server.OnAsk(3));
  server.OnLost(1);
  EXPECT_EQ(server.rails(), 1u);
  Admit(server, 3);
  EXPECT_TRUE(server.ready(2));
}

TEST(ServerUpgradeMachineTest, ARailThatIsLostLeavesWhatIsUnderWay) {
  ServerUpgradeMachine server(3);
  Admit(server, 1);
  ASSERT_TRUE(server.OnAsk(2));
  server.OnLost(1);
  EXPECT_EQ(server.state(), State::kPreparing);
  EXPECT_TRUE(server.OnOffered());
  server.OnLost(2);
  EXPECT_EQ(server.state(), State::kIdle);
  EXPECT_EQ(server.rails(), 0u);
}

TEST(ServerUpgradeMachineTest, NothingComesAfterTheEnd) {
  ServerUpgradeMachine server;
  ASSERT_TRUE(server.OnAsk(1));
  server.OnEnd();
  EXPECT_FALSE(server.OnOffered());
  EXPECT_FALSE(server.OnRefused());
  EXPECT_FALSE(server.OnAdmitted());
  EXPECT_FALSE(server.OnAsk(2));
}

}  // namespace
}  // namespace farcall
