// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/memory/registrar.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "transport/base/check.h"
#include "transport/base/clock.h"
#include "transport/buffer/block_pool.h"
#include "transport/rdma/verbs/testing/scripted_verbs.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

constexpr size_t kRegion = size_t{2} << 20;

class RegistrarTest : public ::testing::Test {
 protected:
  RegistrarTest() {
    auto made = BlockPool::Create({.region_bytes = kRegion, .max_bytes = 8 * kRegion}, &registrar_);
    Check(made.ok(), "the options are valid");
    pool_ = *std::move(made);
    registrar_.Attach(*loop_);
  }

  RdmaRegistrar::Device Device(size_t index, bool relaxed_ordering = true) {
    return {index, "mlx5_" + std::to_string(index), &verbs_.api(), &pd_, relaxed_ordering};
  }
  static bool Registered(const BlockRef& block, size_t device) {
    return block->keys->lkey(device).has_value();
  }

  ScriptedVerbs verbs_;
  ibv_pd pd_{};
  SteadyClock clock_;
  const std::unique_ptr<EventLoop> loop_ = *EventLoop::Create(clock_);
  RdmaRegistrar registrar_;
  std::unique_ptr<BlockPool> pool_;
};

TEST_F(RegistrarTest, WithoutADeviceItIsAListAndPostsNothing) {
  const BlockRef block = pool_->Allocate(1);
  ASSERT_NE(block->keys, nullptr);
  EXPECT_FALSE(Registered(block, 0));
  EXPECT_FALSE(loop_->RunOnce());
  EXPECT_TRUE(verbs_.calls.empty());
  const RegistrarStats stats = registrar_.stats();
  EXPECT_EQ(stats.regions, 1u);
  EXPECT_EQ(stats.region_bytes, kRegion);
  EXPECT_EQ(stats.registered_bytes, 0u);
}

TEST_F(RegistrarTest, ADeviceGetsEveryRegionThatIsThere) {
  const BlockRef small = pool_->Allocate(1);
  const BlockRef medium = pool_->Allocate(BlockPool::kMedium);
  ASSERT_TRUE(registrar_.AddDevice(Device(3)).ok());
  EXPECT_TRUE(Registered(small, 3));
  EXPECT_TRUE(Registered(medium, 3));
  EXPECT_NE(small->keys->lkey(3), medium->keys->lkey(3));
  EXPECT_FALSE(Registered(small, 0));
  EXPECT_EQ(registrar_.stats().registered_bytes, 2 * kRegion);
  EXPECT_EQ(registrar_.stats().registrations, 2u);
  registrar_.RemoveDevice(3);
  EXPECT_FALSE(Registered(small, 3));
  EXPECT_EQ(verbs_.live, 0);
  EXPECT_EQ(registrar_.stats().registered_bytes, 0u);
}

TEST_F(RegistrarTest, WhatIsMappedLaterIsRegisteredOnTheControlLoop) {
  ASSERT_TRUE(registrar_.AddDevice(Device(0)).ok());
  ASSERT_TRUE(registrar_.AddDevice(Device(1)).ok());
  const BlockRef block = pool_->Allocate(1);
  const BlockRef other = pool_->Allocate(BlockPool::kLarge);
  EXPECT_FALSE(Registered(block, 0));
  EXPECT_TRUE(loop_->RunOnce());
  for (const size_t device : {0, 1}) {
    EXPECT_TRUE(Registered(block, device));
    EXPECT_TRUE(Registered(other, device));
  }
  EXPECT_FALSE(loop_->RunOnce());
  EXPECT_EQ(verbs_.live, 4);
  registrar_.RemoveDevice(0);
  registrar_.RemoveDevice(1);
}

TEST_F(RegistrarTest, PendingRegionsMayBeRegisteredAtOnce) {
  ASSERT_TRUE(registrar_.AddDevice(Device(0)).ok());
  ASSERT_TRUE(pool_->Reserve(BlockPool::kMedium, 1).ok());
  ASSERT_TRUE(registrar_.RegisterPending().ok());
  const BlockRef block = pool_->Allocate(BlockPool::kMedium);
  EXPECT_TRUE(Registered(block, 0));
  loop_->RunOnce();
  EXPECT_EQ(verbs_.live, 1);
  registrar_.RemoveDevice(0);
}

TEST_F(RegistrarTest, NothingIsOpenToThePeer) {
  const BlockRef block = pool_->Allocate(1);
  ASSERT_TRUE(registrar_.AddDevice(Device(0, true)).ok());
  ASSERT_TRUE(registrar_.AddDevice(Device(1, false)).ok());
  EXPECT_EQ(verbs_.access,
            (std::vector<unsigned int>{IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING,
                                       IBV_ACCESS_LOCAL_WRITE}));
  EXPECT_EQ(registrar_.stats().relaxed_ordering, 1u);
  registrar_.RemoveDevice(0);
  registrar_.RemoveDevice(1);
}

TEST_F(RegistrarTest, WhereADeviceRefusesRelaxedOrderingItIsStrict) {
  verbs_.relaxed_ordering = false;
  const BlockRef block = pool_->Allocate(1);
  ASSERT_TRUE(registrar_.AddDevice(Device(0)).ok());
  EXPECT_EQ(verbs_.access, (std::vector<unsigned int>{IBV_ACCESS_LOCAL_WRITE}));
  EXPECT_EQ(registrar_.stats().relaxed_ordering, 0u);
  EXPECT_EQ(registrar_.stats().failures, 0u);
  registrar_.RemoveDevice(0);
}

// What failed for want of memory alone is tried again later, with windows.
TEST_F(RegistrarTest, RegionsGoWithoutWindowsWhereADeviceRefusesThemOnly) {
  constexpr unsigned int kWithWindows = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND;
  static std::vector<unsigned int> asked;
  static int refusal = 0;
  asked.clear();
  VerbsApi api = verbs_.api();
  api.ibv.reg_mr = [](ibv_pd*, void*, size_t, unsigned int access) -> ibv_mr* {
    asked.push_back(access);
    errno = refusal;
    return nullptr;
  };
  RdmaRegistrar::Device device = Device(0, /*relaxed_ordering=*/false);
  device.api = &api;
  device.windows = true;
  const BlockRef block = pool_->Allocate(1);
  refusal = ENOMEM;
  EXPECT_FALSE(registrar_.AddDevice(device).ok());
  EXPECT_EQ(asked, (std::vector<unsigned int>{kWithWindows}));
  asked.clear();
  refusal = EOPNOTSUPP;
  EXPECT_FALSE(registrar_.AddDevice(device).ok());
  EXPECT_EQ(asked, (std::vector<unsigned int>{kWithWindows, IBV_ACCESS_LOCAL_WRITE}));
}

TEST_F(RegistrarTest, ADeviceGetsAllRegionsOrNone) {
  rlimit former{};
  ASSERT_EQ(getrlimit(RLIMIT_MEMLOCK, &former), 0);
  rlimit limit = former;
  limit.rlim_cur = 4096;
  ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
  verbs_.memlock = 2 * kRegion;
  const BlockRef small = pool_->Allocate(1);
  const BlockRef medium = pool_->Allocate(BlockPool::kMedium);
  const BlockRef large = pool_->Allocate(BlockPool::kLarge);
  const absl::Status status = registrar_.AddDevice(Device(0));
  ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &former), 0);
  EXPECT_EQ(ReasonOf(status), WhyNotRdma::kMemlock);
  EXPECT_NE(status.message().find("mlx5_0: 6291456 bytes are needed"), absl::string_view::npos)
      << status;
  EXPECT_EQ(verbs_.live, 0);
  EXPECT_FALSE(Registered(small, 0));
  EXPECT_EQ(registrar_.stats().registered_bytes, 0u);
  EXPECT_EQ(registrar_.stats().failures, 1u);

  verbs_.memlock = 3 * kRegion;
  EXPECT_TRUE(registrar_.AddDevice(Device(0)).ok());
  registrar_.RemoveDevice(0);
}

TEST_F(RegistrarTest, ARegionThatIsRefusedLaterIsCountedAndTriedAgain) {
  ASSERT_TRUE(registrar_.AddDevice(Device(0)).ok());
  verbs_.Fail("ibv_reg_mr", EIO);
  const BlockRef block = pool_->Allocate(1);
  loop_->RunOnce();
  EXPECT_FALSE(Registered(block, 0));
  EXPECT_EQ(registrar_.stats().failures, 1u);
  EXPECT_EQ(ReasonOf(registrar_.RegisterPending()), WhyNotRdma::kDeviceRefused);
  EXPECT_EQ(ReasonOf(registrar_.RegisterPending(0)), WhyNotRdma::kDeviceRefused);
  EXPECT_TRUE(registrar_.RegisterPending(1).ok()) << "what one refuses is nothing to another";
  verbs_.Fail("ibv_reg_mr", 0);
  EXPECT_TRUE(registrar_.RegisterPending().ok());
  EXPECT_TRUE(Registered(block, 0));
  registrar_.RemoveDevice(0);
}

TEST_F(RegistrarTest, AnUnmappedRegionIsDeregisteredFirst) {
  pool_->Allocate(1);
  ASSERT_TRUE(registrar_.AddDevice(Device(0)).ok());
  EXPECT_EQ(verbs_.live, 1);
  pool_.reset();
  EXPECT_EQ(verbs_.live, 0);
  EXPECT_EQ(registrar_.stats().regions, 0u);
  registrar_.RemoveDevice(0);
}

TEST_F(RegistrarTest, ThePoolMayEndAfterTheControlLoop) {
  pool_->Allocate(1);
  ASSERT_TRUE(registrar_.AddDevice(Device(0)).ok());
  registrar_.RemoveDevice(0);
  registrar_.Detach();
  pool_->Allocate(BlockPool::kMedium);
  EXPECT_FALSE(loop_->RunOnce());
  pool_.reset();
}

TEST_F(RegistrarTest, RemovingWhatWasNotAddedIsNothing) {
  registrar_.RemoveDevice(5);
  EXPECT_TRUE(verbs_.calls.empty());
}

TEST_F(RegistrarTest, ThreadsMapWhileDevicesComeAndGo) {
  std::atomic<bool> stop{false};
  std::vector<std::vector<BlockRef>> blocks(3);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < blocks.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < 2; ++n) blocks[i].push_back(pool_->Allocate(BlockPool::kLarge));
      while (!stop) {
        for (const BlockRef& block : blocks[i]) static_cast<void>(Registered(block, 0));
      }
    });
  }
  for (int round = 0; round < 50; ++round) {
    EXPECT_TRUE(registrar_.AddDevice(Device(0)).ok());
    loop_->RunOnce();
    registrar_.RemoveDevice(0);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(registrar_.AddDevice(Device(0)).ok());
  for (const auto& some : blocks) {
    for (const BlockRef& block : some) EXPECT_TRUE(!block || Registered(block, 0));
  }
  registrar_.RemoveDevice(0);
}

TEST(RegistrarDeathTest, RegionsAndDevicesGoFirst) {
  EXPECT_DEATH(
      {
        RdmaRegistrar registrar;
        std::byte memory[8];
        registrar.OnMap(memory, -1);
      },
      "outlives its Runtime: let go of it before");
}

}  // namespace
}  // namespace farcall
