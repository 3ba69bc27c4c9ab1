// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/verbs/owned.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "transport/rdma/verbs/testing/scripted_verbs.h"

namespace farcall {
namespace {

using Calls = std::vector<std::string>;

class OwnedTest : public testing::Test {
 protected:
  OwnedTest() { context_ = &verbs_.AddDevice("mlx5_0").context; }

  ScriptedVerbs verbs_;
  const VerbsApi& api_ = verbs_.api();
  ibv_context* context_;
  std::array<std::byte, 64> memory_{};
};

TEST_F(OwnedTest, MembersEndInTheOpposedOrder) {
  struct All {
    CompletionChannel channel;
    ProtectionDomain pd;
    MemoryRegion region;
    CompletionQueue cq;
    SharedReceiveQueue srq;
    EventChannel events;
    CmId id;
  };
  {
    All all;
    all.channel = *CreateCompletionChannel(api_, context_);
    all.pd = *AllocateDomain(api_, context_);
    all.region = *RegisterMemory(api_, all.pd.get(), memory_, IBV_ACCESS_LOCAL_WRITE);
    all.cq = *CreateCompletionQueue(api_, context_, 16, this, all.channel.get());
    all.srq = *CreateSharedReceiveQueue(api_, all.pd.get(), 16);
    all.events = *CreateEventChannel(api_);
    all.id = *CreateCmId(api_, all.events.get(), this);
    EXPECT_EQ(all.id->context, this);
    EXPECT_EQ(all.id->ps, RDMA_PS_TCP);
    EXPECT_EQ(all.cq->cq_context, this);
    EXPECT_EQ(verbs_.live, 7);
    verbs_.calls.clear();
  }
  EXPECT_EQ(verbs_.calls, (Calls{"rdma_destroy_id", "rdma_destroy_event_channel", "ibv_destroy_srq",
                                 "ibv_destroy_cq", "ibv_dereg_mr", "ibv_dealloc_pd",
                                 "ibv_destroy_comp_channel"}));
  EXPECT_EQ(verbs_.live, 0);
}

TEST_F(OwnedTest, TheQueuePairOfAnIdGoesFirst) {
  const EventChannel events = *CreateEventChannel(api_);
  ibv_qp qp{};
  {
    const CmId id = *CreateCmId(api_, events.get(), nullptr);
    id->qp = &qp;
    verbs_.calls.clear();
  }
  EXPECT_EQ(verbs_.calls, (Calls{"rdma_destroy_qp", "rdma_destroy_id"}));
}

TEST_F(OwnedTest, AQueuePairWithoutAnIdEndsByItself) {
  ibv_qp_init_attr attributes{};
  {
    const OwnedQueuePair queue_pair = Own(api_, api_.ibv.create_qp(nullptr, &attributes));
    EXPECT_NE(queue_pair, nullptr);
  }
  EXPECT_EQ(verbs_.calls, (Calls{"ibv_create_qp", "ibv_destroy_qp"}));
  EXPECT_EQ(verbs_.live, 0);
}

TEST_F(OwnedTest, AnEventIsAcknowledgedOnce) {
  const EventChannel events = *CreateEventChannel(api_);
  verbs_.calls.clear();
  {
    CmEvent event = *NextCmEvent(api_, events.get());
    ASSERT_NE(event, nullptr);
    const CmEvent moved = std::move(event);
  }
  EXPECT_EQ(verbs_.calls, (Calls{"rdma_get_cm_event", "rdma_ack_cm_event"}));
}

TEST_F(OwnedTest, NoEventIsNoError) {
  const EventChannel events = *CreateEventChannel(api_);
  for (const int error : {EAGAIN, EINTR}) {
    verbs_.Fail("rdma_get_cm_event", error);
    const auto event = NextCmEvent(api_, events.get());
    ASSERT_TRUE(event.ok());
    EXPECT_EQ(*event, nullptr);
  }
  verbs_.Fail("rdma_get_cm_event", EBADF);
  EXPECT_FALSE(NextCmEvent(api_, events.get()).ok());
}

TEST_F(OwnedTest, ChannelsDoNotBlock) {
  const EventChannel events = *CreateEventChannel(api_);
  const CompletionChannel channel = *CreateCompletionChannel(api_, context_);
  for (const int fd : {events->fd, channel->fd}) EXPECT_NE(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(OwnedTest, AFailedCallIsNamedWithItsErrno) {
  const auto expect = [&](const char* function, const auto& make) {
    verbs_.Fail(function, ENOMEM);
    const absl::Status status = make().status();
    EXPECT_EQ(status.message(), std::string(function) + ": Cannot allocate memory");
    verbs_.Fail(function, 0);
  };
  expect("ibv_alloc_pd", [&] { return AllocateDomain(api_, context_); });
  expect("ibv_reg_mr", [&] { return RegisterMemory(api_, nullptr, memory_, 0); });
  expect("ibv_create_comp_channel", [&] { return CreateCompletionChannel(api_, context_); });
  expect("ibv_create_cq",
         [&] { return CreateCompletionQueue(api_, context_, 1, nullptr, nullptr); });
  expect("ibv_create_srq", [&] { return CreateSharedReceiveQueue(api_, nullptr, 1); });
  expect("rdma_create_event_channel", [&] { return CreateEventChannel(api_); });
  expect("rdma_create_id", [&] { return CreateCmId(api_, nullptr, nullptr); });
  EXPECT_EQ(verbs_.live, 0);
}

TEST_F(OwnedTest, WhatAnUnpluggedDeviceSaysAtTheEndIsNoBug) {
  for (const int error : {EIO, ENODEV}) {
    verbs_.Fail("ibv_dealloc_pd", error);
    verbs_.Fail("rdma_destroy_id", error);
    static_cast<void>(*AllocateDomain(api_, context_));
    static_cast<void>(*CreateCmId(api_, nullptr, nullptr));
  }
  EXPECT_EQ(verbs_.live, 0);
}

TEST_F(OwnedTest, AnEmptyHandleCallsNothing) {
  {
    const CmId id;
    const ProtectionDomain pd;
  }
  EXPECT_TRUE(verbs_.calls.empty());
}

using OwnedDeathTest = OwnedTest;

TEST_F(OwnedDeathTest, WhatIsStillInUseIsABug) {
  verbs_.Fail("ibv_dealloc_pd", EBUSY);
  verbs_.Fail("rdma_destroy_id", EBUSY);
  verbs_.Fail("ibv_destroy_qp", EBUSY);
  EXPECT_DEATH(static_cast<void>(*AllocateDomain(api_, context_)), "after what was made of them");
  EXPECT_DEATH(static_cast<void>(*CreateCmId(api_, nullptr, nullptr)),
               "after what was made of them");
  ibv_qp_init_attr attributes{};
  EXPECT_DEATH(static_cast<void>(Own(api_, api_.ibv.create_qp(nullptr, &attributes))),
               "after what was made of them");
}

}  // namespace
}  // namespace farcall
