// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/flow/receive_ledger.h"

#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transport/rdma/flow/credit_flow.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Member = ReceiveLedger::Member;

static_assert(ReceiveLedger::kMinimum >= CreditLimits::kMin);

ReceiveLedger LedgerOf(uint32_t receive_slots, uint32_t posted) {
  ReceiveLedger ledger(receive_slots);
  ledger.OnPosted(posted);
  return ledger;
}

// A message came, and its receive is posted again at once.
uint32_t Use(ReceiveLedger& ledger, Member member) {
  ledger.OnConsumed(member);
  ledger.OnPosted(1);
  return ledger.Grant(member);
}

// Uses receives as fast as they are given; returns how many the member has then.
uint32_t Load(ReceiveLedger& ledger, Member member, int messages = 2000) {
  for (int i = 0; i < messages; ++i) Use(ledger, member);
  return ledger.outstanding(member);
}

TEST(ReceiveLedgerTest, EachWhoJoinsIsGivenTheMinimum) {
  ReceiveLedger ledger = LedgerOf(128, /*posted=*/100);
  const Member a = ledger.Join().value();
  const Member b = ledger.Join().value();
  EXPECT_NE(a, b);
  EXPECT_EQ(ledger.outstanding(a), 4u);
  EXPECT_EQ(ledger.outstanding(), 8u);
  EXPECT_EQ(ledger.members(), 2u);
  EXPECT_EQ(ledger.Grant(a), 0u);
}

TEST(ReceiveLedgerTest, MoreAreWantedThanAreClaimed) {
  ReceiveLedger ledger(128);
  EXPECT_EQ(ledger.Wanted(256), 256u);
  ledger.OnPosted(2000);
  for (int i = 0; i < 150; ++i) ASSERT_TRUE(ledger.Join().ok());
  EXPECT_EQ(ledger.Wanted(256), 600u + 256u);
  for (int i = 0; i < 150; ++i) ASSERT_TRUE(ledger.Join().ok());
  EXPECT_EQ(ledger.Wanted(256), 1200u + 400u);
  // However many somebody uses.
  const Member busy = ledger.Join().value();
  EXPECT_GT(Load(ledger, busy), 64u);
  EXPECT_EQ(ledger.Wanted(256), 1204u + 401u);
  ledger.Leave(busy);
  EXPECT_EQ(ledger.Wanted(256), 1200u + 400u);
}

TEST(ReceiveLedgerTest, WithoutTheMinimumNobodyJoins) {
  ReceiveLedger ledger = LedgerOf(128, /*posted=*/11);
  const Member a = ledger.Join().value();
  ASSERT_TRUE(ledger.Join().ok());
  const auto refused = ledger.Join();
  EXPECT_EQ(ReasonOf(refused.status()), WhyNotRdma::kCapacity);
  EXPECT_THAT(refused.status().message(), HasSubstr("of 11 posted receives 8 are given to 2"));
  ledger.Leave(a);
  EXPECT_EQ(ledger.members(), 1u);
  EXPECT_TRUE(ledger.Join().ok());
}

TEST(ReceiveLedgerTest, WhoLeavesGivesBackAll) {
  ReceiveLedger ledger = LedgerOf(128, /*posted=*/64);
  const Member a = ledger.Join().value();
  EXPECT_GT(Load(ledger, a), 20u);
  ledger.Leave(a);
  EXPECT_EQ(ledger.outstanding(), 0u);
  EXPECT_EQ(ledger.posted(), 64u);
  const Member b = ledger.Join().value();
  EXPECT_EQ(b, a) << "its number is used again";
  EXPECT_EQ(ledger.outstanding(b), 4u);
}

TEST(ReceiveLedgerTest, WhoUsesReceivesIsGivenTwiceWhatItUsed) {
  ReceiveLedger ledger = LedgerOf(128, /*posted=*/1024);
  const Member a = ledger.Join().value();
  EXPECT_EQ(Use(ledger, a), 2u);
  for (int i = 0; i < 3; ++i) ledger.OnConsumed(a);
  ledger.OnPosted(3);
  EXPECT_EQ(ledger.Grant(a), 6u);
  EXPECT_EQ(ledger.Grant(a), 0u) << "once";
  EXPECT_EQ(Load(ledger, a), 128u);
}

TEST(ReceiveLedgerTest, OneBusyMemberLeavesReceivesForOthers) {
  ReceiveLedger ledger = LedgerOf(1000, /*posted=*/400);
  const Member a = ledger.Join().value();
  EXPECT_EQ(Load(ledger, a), 152u);
}

TEST(ReceiveLedgerTest, TheOnlyMemberThereCanBeMayHaveAll) {
  ReceiveLedger ledger(64, ReceiveLedger::Use::kSole);
  ledger.OnPosted(64);
  const Member a = ledger.Join().value();
  EXPECT_EQ(Use(ledger, a), 2u);
  EXPECT_EQ(Load(ledger, a), 64u);
  for (int i = 0; i < 10; ++i) ledger.OnConsumed(a);
  EXPECT_EQ(ledger.Grant(a), 0u) << "they are not posted again";
  ledger.OnPosted(10);
  EXPECT_EQ(ledger.Grant(a), 10u);
}

TEST(ReceiveLedgerTest, BusyMembersShare) {
  ReceiveLedger ledger = LedgerOf(1000, /*posted=*/400);
  std::vector<Member> members;
  for (int i = 0; i < 5; ++i) members.push_back(ledger.Join().value());
  Load(ledger, members[0]);
  for (int round = 0; round < 2000; ++round) {
    for (const Member member : members) Use(ledger, member);
  }
  for (const Member member : members) EXPECT_NEAR(ledger.outstanding(member), 50, 4);
}

TEST(ReceiveLedgerTest, ABusyMemberMakesRoomForThoseWhoJoin) {
  ReceiveLedger ledger = LedgerOf(1000, /*posted=*/400);
  const Member a = ledger.Join().value();
  Load(ledger, a);
  for (int joined = 1; joined < 100; ++joined) {
    ASSERT_TRUE(ledger.Join().ok()) << joined;
    Load(ledger, a, 200);
  }
  EXPECT_EQ(ledger.outstanding(a), 4u);
  EXPECT_FALSE(ledger.Join().ok());
}

TEST(ReceiveLedgerTest, WhenTheLoadMovesTheOtherGetsItsMost) {
  ReceiveLedger ledger = LedgerOf(64, /*posted=*/512);
  const Member a = ledger.Join().value();
  const Member b = ledger.Join().value();
  EXPECT_EQ(Load(ledger, a), 64u);
  EXPECT_EQ(Load(ledger, b), 64u);
  EXPECT_EQ(ledger.outstanding(a), 64u);
}

TEST(ReceiveLedgerTest, APausedMemberIsGivenNothing) {
  ReceiveLedger ledger = LedgerOf(64, /*posted=*/64);
  const Member a = ledger.Join().value();
  ledger.Pause(a);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Use(ledger, a), 0u);
  EXPECT_EQ(ledger.outstanding(a), 0u);
  EXPECT_FALSE(ledger.NextStarved().has_value());
  ledger.Resume(a);
  EXPECT_GE(ledger.Grant(a), 4u);
}

TEST(ReceiveLedgerTest, TheMinimumOfAPausedMemberIsKeptForIt) {
  ReceiveLedger ledger = LedgerOf(64, /*posted=*/8);
  const Member a = ledger.Join().value();
  const Member b = ledger.Join().value();
  ledger.Pause(a);
  for (int i = 0; i < 4; ++i) Use(ledger, a);
  Load(ledger, b, 100);
  EXPECT_EQ(ledger.outstanding(b), 4u);
  EXPECT_FALSE(ledger.Join().ok());
  ledger.Resume(a);
  EXPECT_EQ(ledger.Grant(a), 4u);
}

TEST(ReceiveLedgerTest, WhatIsPostedLateGoesToTheStarvedInTurn) {
  ReceiveLedger ledger = LedgerOf(64, /*posted=*/12);
  std::vector<Member> members;
  for (int i = 0; i < 3; ++i) members.push_back(ledger.Join().value());
  for (const Member member : members) {
    for (int i = 0; i < 4; ++i) ledger.OnConsumed(member);
    EXPECT_EQ(ledger.Grant(member), 0u);
  }
  std::vector<Member> order;
  for (int i = 0; i < 6; ++i) {
    ledger.OnPosted(2);
    while (const auto starved = ledger.NextStarved()) {
      order.push_back(*starved);
      EXPECT_EQ(ledger.Grant(*starved), 2u);
    }
  }
  EXPECT_THAT(order,
              ElementsAre(members[0], members[1], members[2], members[0], members[1], members[2]));
  EXPECT_EQ(ledger.outstanding(), 12u);
}

TEST(ReceiveLedgerTest, AStarvedMemberMayLeave) {
  ReceiveLedger ledger = LedgerOf(64, /*posted=*/8);
  const Member a = ledger.Join().value();
  ledger.OnConsumed(a);
  ledger.OnConsumed(a);
  for (int i = 0; i < 6; ++i) ledger.OnConsumed(a);  // it cheats
  EXPECT_EQ(ledger.Grant(a), 0u);
  ledger.Leave(a);
  ledger.OnPosted(8);
  EXPECT_FALSE(ledger.NextStarved().has_value());
  EXPECT_EQ(ledger.outstanding(), 0u);
}

TEST(ReceiveLedgerTest, AMessageWithoutACreditTakesAReceiveAllTheSame) {
  ReceiveLedger ledger = LedgerOf(64, /*posted=*/8);
  const Member a = ledger.Join().value();
  for (int i = 0; i < 5; ++i) ledger.OnConsumed(a);
  EXPECT_EQ(ledger.posted(), 3u);
  EXPECT_EQ(ledger.outstanding(), 0u);
}

TEST(ReceiveLedgerTest, UntrustedPeersHaveAShareAndNoMore) {
  ReceiveLedger ledger(64, ReceiveLedger::Use::kShared, /*for_untrusted=*/16);
  ledger.OnPosted(64);
  std::vector<Member> untrusted;
  for (int i = 0; i < 4; ++i) untrusted.push_back(ledger.Join(PeerTrust::kUntrusted).value());
  const auto refused = ledger.Join(PeerTrust::kUntrusted);
  EXPECT_EQ(ReasonOf(refused.status()), WhyNotRdma::kCapacity);
  EXPECT_THAT(refused.status().message(), HasSubstr("all the 16 receives"));
  EXPECT_EQ(Load(ledger, untrusted[0]), 4u) << "whatever it sends";
  EXPECT_TRUE(ledger.Join().ok()) << "who is known finds a place";

  ledger.Trust(untrusted[0]);
  ledger.Trust(untrusted[0]);
  EXPECT_GT(Load(ledger, untrusted[0]), 4u);
  EXPECT_TRUE(ledger.Join(PeerTrust::kUntrusted).ok());
  EXPECT_FALSE(ledger.Join(PeerTrust::kUntrusted).ok());
  ledger.Leave(untrusted[1]);
  EXPECT_TRUE(ledger.Join(PeerTrust::kUntrusted).ok());
}

TEST(ReceiveLedgerTest, WhatAnUntrustedPeerHasCountsUntilItIsUsed) {
  ReceiveLedger ledger(64, ReceiveLedger::Use::kShared, /*for_untrusted=*/16);
  ledger.OnPosted(256);
  const Member a = ledger.Join(PeerTrust::kUntrusted).value();
  EXPECT_EQ(Load(ledger, a), 16u);
  EXPECT_FALSE(ledger.Join(PeerTrust::kUntrusted).ok());
  ledger.Pause(a);
  for (int i = 0; i < 12; ++i) Use(ledger, a);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(ledger.Join(PeerTrust::kUntrusted).ok());
  EXPECT_FALSE(ledger.Join(PeerTrust::kUntrusted).ok());
}

TEST(ReceiveLedgerTest, WhatMayBeGoneIsGivenToNobodyUntilItIsCounted) {
  ReceiveLedger ledger = LedgerOf(64, /*posted=*/16);
  const Member a = ledger.Join().value();
  const Member b = ledger.Join().value();
  EXPECT_EQ(ledger.Doubt(a), 4u);
  ledger.Leave(a);
  EXPECT_EQ(ledger.posted(), 12u);
  EXPECT_EQ(ledger.doubted(), 4u);
  EXPECT_TRUE(ledger.Join().ok());
  EXPECT_TRUE(ledger.Join().ok());
  EXPECT_FALSE(ledger.Join().ok()) << "it might wait for ever";
  Use(ledger, b);
  EXPECT_EQ(ledger.posted(), 12u);
  ledger.Recount(/*doubted=*/4, /*lost=*/1);
  EXPECT_EQ(ledger.posted(), 15u);
  EXPECT_EQ(ledger.doubted(), 0u);
  ledger.OnFound();
  EXPECT_EQ(ledger.posted(), 16u);
  EXPECT_TRUE(ledger.Join().ok());
}

TEST(ReceiveLedgerTest, AMessageWithoutACreditMayFindOneThatIsDoubted) {
  ReceiveLedger ledger = LedgerOf(64, /*posted=*/8);
  const Member a = ledger.Join().value();
  const Member b = ledger.Join().value();
  ledger.Doubt(a);
  ledger.Leave(a);
  for (int i = 0; i < 8; ++i) ledger.OnConsumed(b);
  EXPECT_EQ(ledger.posted(), 0u);
  EXPECT_EQ(ledger.doubted(), 0u);
  ledger.Recount(/*doubted=*/4, /*lost=*/0);
  EXPECT_EQ(ledger.posted(), 0u);
}

TEST(ReceiveLedgerDeathTest, OnlyMembersAreGivenReceives) {
  ReceiveLedger ledger = LedgerOf(64, /*posted=*/64);
  EXPECT_DEATH(ledger.Grant(0), "has joined");
  const Member a = ledger.Join().value();
  ledger.Leave(a);
  EXPECT_DEATH(ledger.Grant(a), "has joined");
}

}  // namespace
}  // namespace farcall
