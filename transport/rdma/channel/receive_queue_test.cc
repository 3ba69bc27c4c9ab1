// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/channel/receive_queue.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "transport/rdma/channel/receive_queue_testing.h"
#include "transport/rdma_options.h"

namespace farcall {
namespace {

TEST_F(ReceiveQueueTest, EverySlotIsPostedOnce) {
  ASSERT_TRUE(pool_->Reserve(kReceiveBlock, kSlots).ok());
  registrar_.RegisterAll();
  EXPECT_TRUE(Replenish());
  EXPECT_TRUE(Replenish());
  EXPECT_EQ(fake_.posted.size(), kSlots);
  EXPECT_EQ(queue_.ledger().posted(), kSlots);
}

TEST_F(ReceiveQueueTest, ABlockThatTheDeviceDoesNotKnowIsNotKept) {
  EXPECT_FALSE(Replenish());
  EXPECT_EQ(fake_.posted.size(), 0u);
  EXPECT_EQ(pool_->stats().used_bytes, 0u);
  registrar_.RegisterAll();
  EXPECT_TRUE(Replenish());
  EXPECT_EQ(fake_.posted.size(), kSlots);
}

TEST_F(ReceiveQueueTest, WhatIsUsedAgainDoesNotWaitForBlocksThatAreNotKnown) {
  ASSERT_TRUE(pool_->Reserve(kReceiveBlock, kSlots).ok());
  registrar_.RegisterAll();
  ASSERT_TRUE(Replenish());
  const auto member = queue_.ledger().Join();
  ASSERT_TRUE(member.ok());
  // All other known blocks are with somebody, and the next region is not registered.
  std::vector<BlockRef> taken;
  for (;;) {
    BlockRef block = pool_->Allocate(kReceiveBlock);
    if (!block->keys->lkey(kDevice)) break;
    taken.push_back(std::move(block));
  }
  fake_.posted.clear();
  queue_.ledger().OnConsumed(*member);
  BlockRef first = queue_.Take(2);
  EXPECT_FALSE(Replenish());
  EXPECT_EQ(fake_.posted.size(), 0u);
  queue_.Reuse(5, /*bare=*/true);
  queue_.ledger().OnConsumed(*member);
  queue_.Reuse(6, /*bare=*/false);
  EXPECT_FALSE(Replenish());
  EXPECT_EQ(fake_.posted, (std::vector<uint32_t>{5, 6}));
  EXPECT_EQ(queue_.ledger().posted(), kSlots - 1);
  first = BlockRef();
  EXPECT_TRUE(Replenish());
  EXPECT_EQ(fake_.posted, (std::vector<uint32_t>{5, 6, 2}));
  EXPECT_EQ(queue_.ledger().posted(), kSlots);
}

TEST_F(ReceiveQueueTest, SomeReceivesArePostedTogetherUnlessOneIsMissed) {
  ReceiveQueue queue{*pool_, kDevice, {.shared = &fake_.srq}, 64, 64};
  ASSERT_TRUE(pool_->Reserve(kReceiveBlock, 65).ok());
  registrar_.RegisterAll();
  EXPECT_TRUE(queue.PostDue());
  queue.Fill();
  ASSERT_TRUE(queue.Post());
  ReceiveLedger& ledger = queue.ledger();
  const auto member = ledger.Join();
  ASSERT_TRUE(member.ok());
  const auto use = [&](uint32_t slot, bool bare) {
    if (!bare) ledger.OnConsumed(*member);
    queue.Reuse(slot, bare);
  };
  for (uint32_t slot = 0; slot < 7; ++slot) {
    EXPECT_FALSE(queue.PostDue());
    use(slot, /*bare=*/false);
  }
  EXPECT_FALSE(queue.PostDue());
  BlockRef taken = queue.Take(7);
  ledger.OnConsumed(*member);
  EXPECT_TRUE(queue.PostDue()) << "an eighth of them";
  queue.Fill();
  ASSERT_TRUE(queue.Post());
  EXPECT_EQ(ledger.posted(), 64u);
  use(8, /*bare=*/true);
  EXPECT_TRUE(queue.PostDue()) << "its member is given it again at once";
  queue.Fill();
  ASSERT_TRUE(queue.Post());
  use(9, /*bare=*/false);
  EXPECT_FALSE(queue.PostDue());
  while (ledger.free() >= 8) ASSERT_TRUE(ledger.Join().ok());
  EXPECT_TRUE(queue.PostDue()) << "another member would find none";
}

TEST_F(ReceiveQueueTest, OfItsSlotsSoManyArePostedAsAreInUse) {
  ASSERT_TRUE(pool_->Reserve(kReceiveBlock, kSlots).ok());
  registrar_.RegisterAll();
  queue_.SetUsed(3);
  EXPECT_TRUE(Replenish());
  EXPECT_EQ(queue_.ledger().posted(), 3u);
  queue_.SetUsed(5);
  EXPECT_TRUE(Replenish());
  EXPECT_EQ(queue_.ledger().posted(), 5u);
  EXPECT_EQ(fake_.posted.size(), 5u);
}

TEST_F(ReceiveQueueTest, ASlotTooManyIsGivenUpWhenItIsUsed) {
  ASSERT_TRUE(pool_->Reserve(kReceiveBlock, kSlots).ok());
  registrar_.RegisterAll();
  ASSERT_TRUE(Replenish());
  const auto member = queue_.ledger().Join();
  ASSERT_TRUE(member.ok());
  const size_t before = pool_->stats().used_bytes;
  queue_.SetUsed(kSlots - 2);
  queue_.ledger().OnConsumed(*member);
  queue_.Reuse(fake_.posted[0], /*bare=*/false);
  // The receive of a message without bytes is given back to its member, and so is there.
  queue_.Reuse(fake_.posted[1], /*bare=*/true);
  queue_.ledger().OnConsumed(*member);
  EXPECT_TRUE(queue_.Take(fake_.posted[2]));
  EXPECT_EQ(pool_->stats().used_bytes, before - 2 * kReceiveBlock);
  EXPECT_TRUE(Replenish());
  EXPECT_EQ(queue_.ledger().posted(), kSlots - 2);
  // From here on all are posted again.
  queue_.ledger().OnConsumed(*member);
  queue_.Reuse(fake_.posted[3], /*bare=*/false);
  EXPECT_TRUE(Replenish());
  EXPECT_EQ(queue_.ledger().posted(), kSlots - 2);
  queue_.SetUsed(kSlots);
  EXPECT_TRUE(Replenish());
  EXPECT_EQ(queue_.ledger().posted(), kSlots);
}

TEST_F(ReceiveQueueTest, LookingForKnownBlocksDoesNotMapThePool) {
  for (int i = 0; i < 30; ++i) EXPECT_FALSE(Replenish());
  // 64 blocks are two regions.
  EXPECT_LE(pool_->stats().region_bytes, size_t{6} << 20);
}

// As when the pool grows and the device may register nothing more.
TEST_F(ReceiveQueueTest, ManyBlocksThatAreNotKnownDoNotHideOneThatIs) {
  constexpr size_t kKnown = 32;  // a region of 2 MiB
  ASSERT_TRUE(pool_->Reserve(kReceiveBlock, kKnown).ok());
  registrar_.RegisterAll();
  ASSERT_TRUE(Replenish());
  const auto member = queue_.ledger().Join();
  ASSERT_TRUE(member.ok());
  std::vector<BlockRef> known;
  while (known.size() < kKnown - kSlots) known.push_back(pool_->Allocate(kReceiveBlock));
  // No member knows what is free now.
  ASSERT_TRUE(pool_->Reserve(kReceiveBlock, 64).ok());
  queue_.ledger().OnConsumed(*member);
  const BlockRef kept = queue_.Take(fake_.posted[0]);
  EXPECT_FALSE(Replenish());
  // It goes to the list of another thread, from where it is not the next one to be taken.
  std::thread([&] { known.pop_back(); }).join();
  bool posted = false;
  for (int i = 0; i < 3 && !posted; ++i) posted = Replenish();
  EXPECT_TRUE(posted);
  EXPECT_EQ(queue_.ledger().posted(), kSlots);
}

}  // namespace
}  // namespace farcall
