// SPDX-License-Identifier: Apache-2.0
//
// Memory of the program at a registrar.

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
#include "transport/buffer/registered_memory.h"
#include "transport/rdma/memory/registrar.h"
#include "transport/rdma/verbs/testing/scripted_verbs.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

class RegistrarUsersTest : public ::testing::Test {
 protected:
  RegistrarUsersTest() { registrar_.Attach(*loop_); }

  RdmaRegistrar::Device Device(size_t index) {
    return {index, "mlx5_" + std::to_string(index), &verbs_.api(), &pd_, false};
  }
  RegisteredMemory Register(std::span<std::byte> memory) {
    return *RegisteredMemory::Register(&registrar_, memory, [this] { ++released_; });
  }
  void Run() {
    while (loop_->RunOnce()) {
    }
  }
  static bool Known(const Buffer& slice, size_t device) {
    return slice.slices()[0].block->keys->lkey(device).has_value();
  }

  ScriptedVerbs verbs_;
  ibv_pd pd_{};
  SteadyClock clock_;
  const std::unique_ptr<EventLoop> loop_ = *EventLoop::Create(clock_);
  RdmaRegistrar registrar_;
  std::vector<std::byte> bytes_ = std::vector<std::byte>(10'001);
  std::atomic<int> released_{0};
};

TEST_F(RegistrarUsersTest, WithoutADeviceNothingIsDone) {
  RegisteredMemory memory = Register(bytes_);
  EXPECT_TRUE(memory.status().ok());
  EXPECT_FALSE(Known(memory.Slice(0, 1), 0));
  EXPECT_EQ(registrar_.stats().user_regions, 1u);
  EXPECT_EQ(registrar_.stats().user_bytes, bytes_.size());
  EXPECT_EQ(registrar_.stats().regions, 0u);
  memory = {};
  Run();
  EXPECT_EQ(released_, 1);
  EXPECT_TRUE(verbs_.calls.empty());
  EXPECT_EQ(registrar_.stats().user_bytes, 0u);
}

TEST_F(RegistrarUsersTest, DevicesOfNowAndOfLaterKnowIt) {
  ASSERT_TRUE(registrar_.AddDevice(Device(0)).ok());
  RegisteredMemory memory = Register(std::span(bytes_).subspan(1));
  EXPECT_EQ(memory.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(verbs_.live, 0) << "not on this thread";
  Run();
  EXPECT_TRUE(memory.status().ok());
  EXPECT_TRUE(Known(memory.Slice(5, 5), 0));
  ASSERT_TRUE(registrar_.AddDevice(Device(1)).ok());
  EXPECT_FALSE(memory.status().ok());
  Run();
  EXPECT_TRUE(memory.status().ok());
  EXPECT_TRUE(Known(memory.Slice(5, 5), 1));
  EXPECT_EQ(verbs_.live, 2);
  EXPECT_EQ(verbs_.access,
            (std::vector<unsigned int>{IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_LOCAL_WRITE}));
  registrar_.RemoveDevice(0);
  EXPECT_FALSE(Known(memory.Slice(5, 5), 0));
  EXPECT_TRUE(Known(memory.Slice(5, 5), 1));
  EXPECT_TRUE(memory.status().ok());
  memory = {};
  Run();
  EXPECT_EQ(verbs_.live, 0);
  EXPECT_EQ(released_, 1);
  registrar_.RemoveDevice(1);
}

TEST_F(RegistrarUsersTest, ItIsDeregisteredOnTheControlLoopWithTheLastSlice) {
  ASSERT_TRUE(registrar_.AddDevice(Device(0)).ok());
  RegisteredMemory memory = Register(bytes_);
  Run();
  Buffer slice = memory.Slice(0, 100);
  memory = {};
  Run();
  EXPECT_EQ(verbs_.live, 1);
  EXPECT_EQ(released_, 0);
  slice.Clear();
  EXPECT_EQ(verbs_.live, 1) << "not on this thread";
  Run();
  EXPECT_EQ(verbs_.live, 0);
  EXPECT_EQ(released_, 1);
  registrar_.RemoveDevice(0);
}

TEST_F(RegistrarUsersTest, EachPieceIsATaskOfItsOwn) {
  ASSERT_TRUE(registrar_.AddDevice(Device(0)).ok());
  std::vector<RegisteredMemory> all;
  for (int i = 0; i < 3; ++i) all.push_back(Register(bytes_));
  for (int i = 1; i <= 3; ++i) {
    loop_->RunOnce();
    EXPECT_EQ(verbs_.live, i);
  }
  // The same bytes, three times.
  EXPECT_EQ(registrar_.stats().registered_bytes, 3 * bytes_.size());
  all.clear();
  Run();
  EXPECT_EQ(verbs_.live, 0);
  EXPECT_EQ(released_, 3);
  registrar_.RemoveDevice(0);
}

TEST_F(RegistrarUsersTest, WhatMayNotBeLockedIsCopiedAndTheDeviceIsUsed) {
  rlimit former{};
  ASSERT_EQ(getrlimit(RLIMIT_MEMLOCK, &former), 0);
  rlimit limit = former;
  limit.rlim_cur = 4096;
  ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
  verbs_.memlock = 15'000;
  RegisteredMemory first = Register(bytes_);
  RegisteredMemory second = Register(bytes_);
  EXPECT_TRUE(registrar_.AddDevice(Device(0)).ok());
  Run();
  const absl::Status refused = second.status();
  ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &former), 0);
  EXPECT_TRUE(first.status().ok());
  EXPECT_EQ(ReasonOf(refused), WhyNotRdma::kMemlock);
  EXPECT_NE(refused.message().find("20002 bytes are needed"), absl::string_view::npos) << refused;
  EXPECT_NE(refused.message().find("4096 are allowed"), absl::string_view::npos) << refused;
  EXPECT_FALSE(Known(second.Slice(0, 1), 0));
  EXPECT_EQ(registrar_.stats().failures, 1u) << "it is not tried again and again";
  first = {};
  Run();
  EXPECT_TRUE(second.status().ok()) << "there is room now";
  EXPECT_TRUE(Known(second.Slice(0, 1), 0));
  second = {};
  Run();
  registrar_.RemoveDevice(0);
}

TEST_F(RegistrarUsersTest, APoolGoesOnWhateverIsRefusedToTheProgram) {
  ASSERT_TRUE(registrar_.AddDevice(Device(0)).ok());
  verbs_.Fail("ibv_reg_mr", EIO);
  RegisteredMemory memory = Register(bytes_);
  Run();
  EXPECT_EQ(ReasonOf(memory.status()), WhyNotRdma::kDeviceRefused);
  EXPECT_TRUE(registrar_.RegisterPending().ok());
  verbs_.Fail("ibv_reg_mr", 0);
  registrar_.RemoveDevice(0);
  EXPECT_TRUE(memory.status().ok());
  ASSERT_TRUE(registrar_.AddDevice(Device(0)).ok());
  Run();
  EXPECT_TRUE(memory.status().ok());
  EXPECT_TRUE(Known(memory.Slice(0, 1), 0));
  memory = {};
  Run();
  registrar_.RemoveDevice(0);
}

TEST_F(RegistrarUsersTest, ThereIsALimit) {
  std::vector<RegisteredMemory> all;
  for (size_t i = 0; i < RdmaRegistrar::kMaxUserRegions; ++i) all.push_back(Register(bytes_));
  const auto more = RegisteredMemory::Register(&registrar_, bytes_, [this] { ++released_; });
  EXPECT_EQ(more.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(released_, 0);
  all.clear();
  Run();
  EXPECT_EQ(released_, static_cast<int>(RdmaRegistrar::kMaxUserRegions));
}

TEST_F(RegistrarUsersTest, WhatWaitsForATaskIsDoneAtTheEnd) {
  ASSERT_TRUE(registrar_.AddDevice(Device(0)).ok());
  RegisteredMemory memory = Register(bytes_);
  RegisteredMemory later = Register(bytes_);
  Run();
  memory = {};
  registrar_.RemoveDevice(0);
  EXPECT_EQ(released_, 0);
  registrar_.Detach();
  EXPECT_EQ(released_, 1);
  later = {};
  EXPECT_EQ(released_, 2) << "no later call would do it";
  EXPECT_EQ(verbs_.live, 0);
}

TEST_F(RegistrarUsersTest, ThreadsRegisterAndLetGoWhileDevicesComeAndGo) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  std::atomic<int> registered{0};
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!stop) {
        auto memory = RegisteredMemory::Register(&registrar_, bytes_, [this] { ++released_; });
        // Those that the control loop has not let go of yet may be as many as there can be.
        if (absl::IsResourceExhausted(memory.status())) continue;
        ++registered;
        const Buffer slice = memory->Slice(1, 10);
        *memory = {};
        static_cast<void>(Known(slice, 0));
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
  Run();
  EXPECT_EQ(released_, registered);
  EXPECT_EQ(verbs_.live, 0);
}

}  // namespace
}  // namespace farcall
