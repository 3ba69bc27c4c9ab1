// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/channel/receive_queue.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "transport/base/check.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/memory_registrar.h"
#include "transport/rdma/device/region_keys.h"
#include "transport/rdma/flow/wr_id.h"
#include "transport/rdma_options.h"

namespace farcall {
namespace {

constexpr size_t kDevice = 3;
constexpr uint32_t kSlots = 8;

// Registers a region when the test says so.
class LateRegistrar final : public MemoryRegistrar {
 public:
  const RegionKeys* OnMap(std::span<std::byte>, int) override {
    regions_.push_back(std::make_unique<RegionKeys>());
    return regions_.back().get();
  }
  void OnUnmap(const RegionKeys*) override {}
  const RegionKeys* OnMapUser(std::span<std::byte>) override { return nullptr; }
  void OnUnmapUser(const RegionKeys*, absl::AnyInvocable<void()>) override {}
  absl::Status UserStatus(const RegionKeys*) const override { return absl::OkStatus(); }
  void RegisterAll() {
    for (const auto& keys : regions_) keys->Set(kDevice, 7);
  }

 private:
  std::vector<std::unique_ptr<RegionKeys>> regions_;
};

// A shared receive queue that notes which slots were posted.
struct FakeQueue {
  FakeQueue() {
    context.ops.post_srq_recv = Post;
    srq.context = &context;
    srq.srq_context = this;
  }
  static int Post(ibv_srq* srq, ibv_recv_wr* request, ibv_recv_wr**) {
    auto& self = *static_cast<FakeQueue*>(srq->srq_context);
    for (; request != nullptr; request = request->next) {
      EXPECT_EQ(request->sg_list->lkey, 7u);
      self.posted.push_back(UnpackWrId(request->wr_id).slot);
    }
    return 0;
  }

  std::vector<uint32_t> posted;
  ibv_context context{};
  ibv_srq srq{};
};

class ReceiveQueueTest : public ::testing::Test {
 protected:
  static std::unique_ptr<BlockPool> MakePool(LateRegistrar& registrar) {
    auto pool = BlockPool::Create({.region_bytes = size_t{2} << 20, .max_bytes = size_t{32} << 20},
                                  &registrar);
    Check(pool.ok(), "the options are valid");
    return *std::move(pool);
  }
  bool Replenish() {
    queue_.Fill();
    return queue_.Post();
  }

  FakeQueue fake_;
  LateRegistrar registrar_;
  std::unique_ptr<BlockPool> pool_ = MakePool(registrar_);
  ReceiveQueue queue_{*pool_, kDevice, {.shared = &fake_.srq}, kSlots, kSlots};
};

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
