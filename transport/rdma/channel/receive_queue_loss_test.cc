// SPDX-License-Identifier: Apache-2.0
//
// Receives that a queue pair took with it.

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>

#include "transport/rdma/channel/receive_queue_testing.h"
#include "transport/rdma_options.h"

namespace farcall {
namespace {

// A device whose queue is first in, first out.
class ReceiveQueueLossTest : public ReceiveQueueTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(pool_->Reserve(kReceiveBlock, kMax).ok());
    registrar_.RegisterAll();
    larger_.SetUsed(kSlots);
    a_ = Refill() ? larger_.ledger().Join().value() : 0;
    b_ = larger_.ledger().Join().value();
    ASSERT_EQ(there_.size(), kSlots);
  }
  bool Refill() {
    fake_.posted.clear();
    larger_.Fill();
    const bool full = larger_.Post();
    there_.insert(there_.end(), fake_.posted.begin(), fake_.posted.end());
    return full;
  }
  // A message of `b_` takes the next one, which is posted again.
  void Use(uint32_t slot) {
    larger_.ledger().OnConsumed(b_);
    larger_.Reuse(slot, /*bare=*/false);
    EXPECT_TRUE(Refill());
    larger_.ledger().Grant(b_);
  }
  void UseNext() {
    const uint32_t slot = there_.front();
    there_.pop_front();
    Use(slot);
  }

  static constexpr uint32_t kMax = 2 * kSlots;
  ReceiveQueue larger_{*pool_, kDevice, {.shared = &fake_.srq}, kMax, kMax};
  std::deque<uint32_t> there_;  // with the device
  ReceiveLedger::Member a_ = 0;
  ReceiveLedger::Member b_ = 0;
};

TEST_F(ReceiveQueueLossTest, WhatAQueuePairTookWithItIsFoundOutAndReplaced) {
  const uint32_t gone = there_.front();
  there_.erase(there_.begin(), there_.begin() + 2);
  larger_.Doubt(a_);
  larger_.ledger().Leave(a_);
  EXPECT_EQ(larger_.lost(), 4u) << "as many as it had credits";
  EXPECT_EQ(larger_.ledger().posted(), kSlots - 4);
  for (uint32_t i = 0; i < 2 * kSlots; ++i) UseNext();
  EXPECT_EQ(larger_.lost(), 2u);
  EXPECT_EQ(larger_.ledger().posted(), kSlots);
  EXPECT_EQ(there_.size(), kSlots);
  EXPECT_EQ(larger_.used(), kSlots);

  // The device had it all the time.
  Use(gone);
  EXPECT_EQ(larger_.lost(), 1u);
  EXPECT_EQ(larger_.ledger().posted(), kSlots);
  EXPECT_EQ(there_.size(), kSlots) << "there are enough";
}

TEST_F(ReceiveQueueLossTest, WhereNothingIsGoneAllIsAsBefore) {
  larger_.Doubt(a_);
  larger_.ledger().Leave(a_);
  for (uint32_t i = 0; i < 3 * kSlots; ++i) UseNext();
  EXPECT_EQ(larger_.lost(), 0u);
  EXPECT_EQ(larger_.ledger().posted(), kSlots);
  EXPECT_EQ(there_.size(), kSlots);
}

// A later end does not put off what is known of an earlier one.
TEST_F(ReceiveQueueLossTest, EachDoubtIsSettledByItself) {
  constexpr uint32_t kUsed = 12;
  larger_.SetUsed(kUsed);
  ASSERT_TRUE(Refill());
  const ReceiveLedger::Member c = larger_.ledger().Join().value();
  there_.pop_front();
  larger_.Doubt(a_);
  larger_.ledger().Leave(a_);
  for (uint32_t i = 0; i < kUsed; ++i) UseNext();
  there_.pop_front();
  larger_.Doubt(c);
  larger_.ledger().Leave(c);
  EXPECT_EQ(larger_.lost(), 8u);
  for (uint32_t i = 0; i < kUsed; ++i) UseNext();
  EXPECT_EQ(larger_.lost(), 1u + 4u);
  for (uint32_t i = 0; i < kUsed; ++i) UseNext();
  EXPECT_EQ(larger_.lost(), 2u);
  EXPECT_EQ(larger_.ledger().posted(), kUsed);
}

// A member without messages, as one without any, settles nothing.
TEST_F(ReceiveQueueLossTest, WhatIsDoubtedIsGivenAgainWhereNoneIsFree) {
  for (const bool idle : {false, true}) {
    for (int round = 0; round < 100; ++round) {
      for (const ReceiveLedger::Member member : {a_, b_}) {
        if (idle && member == a_) continue;
        larger_.Doubt(member);
        larger_.ledger().Leave(member);
      }
      EXPECT_GE(larger_.lost(), 4u);
      larger_.BelieveIfNoneIsFree();
      if (!idle) a_ = larger_.ledger().Join().value();
      b_ = larger_.ledger().Join().value();
      UseNext();
    }
  }
  // One was gone all the same.
  there_.pop_front();
  for (uint32_t i = 0; i < 4 * kSlots; ++i) UseNext();
  EXPECT_EQ(larger_.lost(), 1u);
  EXPECT_EQ(there_.size(), kSlots);
}

// What the device keeps is found and replaced, as long as there is other memory for it.
TEST_F(ReceiveQueueLossTest, WhatIsGivenAgainAndLostIsFound) {
  for (int round = 0; round < 6; ++round) {
    for (const ReceiveLedger::Member member : {a_, b_}) {
      larger_.Doubt(member);
      larger_.ledger().Leave(member);
    }
    there_.pop_front();
    larger_.BelieveIfNoneIsFree();
    a_ = larger_.ledger().Join().value();
    b_ = larger_.ledger().Join().value();
    for (int i = 0; i < 3; ++i) UseNext();
  }
  for (uint32_t i = 0; i < 4 * kSlots; ++i) UseNext();
  EXPECT_EQ(larger_.lost(), 6u);
  EXPECT_EQ(there_.size(), kSlots);
}

TEST_F(ReceiveQueueLossTest, AQueuePairWithoutCreditsTookNothing) {
  for (int i = 0; i < 4; ++i) {
    larger_.ledger().OnConsumed(a_);
    larger_.Reuse(there_.front(), /*bare=*/false);
    there_.pop_front();
  }
  larger_.Doubt(a_);
  larger_.ledger().Leave(a_);
  EXPECT_TRUE(Refill());
  EXPECT_EQ(larger_.lost(), 0u);
  EXPECT_EQ(larger_.ledger().posted(), kSlots);
}

}  // namespace
}  // namespace farcall
