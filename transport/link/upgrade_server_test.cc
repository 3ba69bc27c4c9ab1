// SPDX-License-Identifier: Apache-2.0

#include "transport/link/upgrade_server.h"

#include "gtest/gtest.h"

namespace farcall {
namespace {

using State = ServerUpgrade;
using Event = ServerUpgradeEvent;
using Do = UpgradeServer::Do;

// Every state and event: a changed transition is a changed table.
TEST(UpgradeServerTest, Table) {
  struct Row {
    Event event;
    State idle, preparing, offered, ready;
  };
  for (const Row& row : {
           Row{Event::kAsk, State::kPreparing, State::kPreparing, State::kPreparing,
               State::kPreparing},
           Row{Event::kOffered, State::kIdle, State::kOffered, State::kOffered, State::kReady},
           Row{Event::kRefused, State::kIdle, State::kIdle, State::kOffered, State::kReady},
           Row{Event::kAdmitted, State::kIdle, State::kPreparing, State::kReady, State::kReady},
           Row{Event::kLost, State::kIdle, State::kIdle, State::kIdle, State::kIdle},
           Row{Event::kEnd, State::kEnded, State::kEnded, State::kEnded, State::kEnded},
       }) {
    EXPECT_EQ(Next(State::kIdle, row.event), row.idle);
    EXPECT_EQ(Next(State::kPreparing, row.event), row.preparing);
    EXPECT_EQ(Next(State::kOffered, row.event), row.offered);
    EXPECT_EQ(Next(State::kReady, row.event), row.ready);
    EXPECT_EQ(Next(State::kEnded, row.event), State::kEnded);
  }
}

TEST(UpgradeServerTest, AskOfferAdmit) {
  UpgradeServer server;
  EXPECT_EQ(server.OnAsk(1), Do::kAwait);
  EXPECT_EQ(server.generation(), 1u);
  EXPECT_TRUE(server.OnOffered());
  EXPECT_TRUE(server.OnAdmitted());
  EXPECT_EQ(server.state(), State::kReady);
}

TEST(UpgradeServerTest, AnAskSupersedesTheOffer) {
  UpgradeServer server;
  ASSERT_EQ(server.OnAsk(1), Do::kAwait);
  ASSERT_TRUE(server.OnOffered());
  EXPECT_EQ(server.OnAsk(3), Do::kAwait);
  EXPECT_EQ(server.generation(), 3u);
}

TEST(UpgradeServerTest, AnAskTooManyIsDeclined) {
  UpgradeServer server;
  ASSERT_EQ(server.OnAsk(1), Do::kAwait);
  EXPECT_EQ(server.OnAsk(2), Do::kDeclineBusy);
  EXPECT_EQ(server.generation(), 1u);
  EXPECT_TRUE(server.OnOffered());
  EXPECT_EQ(server.OnAsk(3), Do::kAwait);
}

TEST(UpgradeServerTest, AnAskMeansThatTheOneInUseIsDead) {
  UpgradeServer server;
  ASSERT_EQ(server.OnAsk(1), Do::kAwait);
  ASSERT_TRUE(server.OnOffered());
  ASSERT_TRUE(server.OnAdmitted());
  EXPECT_EQ(server.OnAsk(2), Do::kAwait);
  server.OnLost(1);
  EXPECT_EQ(server.state(), State::kPreparing) << "known already";
}

TEST(UpgradeServerTest, RefusedIsAskedAgain) {
  UpgradeServer server;
  ASSERT_EQ(server.OnAsk(1), Do::kAwait);
  EXPECT_TRUE(server.OnRefused());
  EXPECT_EQ(server.OnAsk(2), Do::kAwait);
}

TEST(UpgradeServerTest, WhatIsLostBeforeItIsThereIsNotOffered) {
  UpgradeServer server;
  ASSERT_EQ(server.OnAsk(2), Do::kAwait);
  server.OnLost(1);
  EXPECT_EQ(server.state(), State::kPreparing);
  server.OnLost(2);
  EXPECT_FALSE(server.OnOffered());
  EXPECT_FALSE(server.OnAdmitted());
  EXPECT_EQ(server.state(), State::kIdle);
}

TEST(UpgradeServerTest, NothingComesAfterTheEnd) {
  UpgradeServer server;
  ASSERT_EQ(server.OnAsk(1), Do::kAwait);
  server.OnEnd();
  EXPECT_FALSE(server.OnOffered());
  EXPECT_FALSE(server.OnRefused());
  EXPECT_FALSE(server.OnAdmitted());
  EXPECT_EQ(server.OnAsk(2), Do::kNothing);
}

}  // namespace
}  // namespace farcall
