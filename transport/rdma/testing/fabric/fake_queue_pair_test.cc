// SPDX-License-Identifier: Apache-2.0

#include <errno.h>

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transport/rdma/testing/fabric/fabric_end.h"
#include "transport/rdma/testing/fabric/fake_fabric.h"

namespace farcall {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::SizeIs;

auto Status(ibv_wc_status status) { return Field("status", &ibv_wc::status, status); }
auto Id(uint64_t wr_id) { return Field("wr_id", &ibv_wc::wr_id, wr_id); }

class FakeQueuePairTest : public testing::TestWithParam<FakeMode> {
 protected:
  FakeQueuePairTest() : fabric({.mode = GetParam()}) {}
  FakeFabric fabric;
};

INSTANTIATE_TEST_SUITE_P(Modes, FakeQueuePairTest,
                         testing::Values(FakeMode::kImmediate, FakeMode::kStepped));

TEST_P(FakeQueuePairTest, SlotsComeBackWithAPolledSignaledCompletion) {
  FabricEndOptions options;
  options.cap.max_send_wr = 4;
  FabricPair pair(fabric, options);
  ASSERT_TRUE(pair.Join());
  for (uint64_t i = 0; i < 10; ++i) ASSERT_EQ(pair.server.Receive(i, 64, i), 0);
  for (uint64_t i = 0; i < 3; ++i) ASSERT_EQ(pair.client.Send(0, 4, i, 0), 0);
  fabric.Settle();
  ASSERT_EQ(pair.client.Send(0, 4, 3), 0);
  fabric.Settle();
  EXPECT_EQ(pair.client.Send(0, 4, 4), ENOMEM) << "nothing was polled yet";
  EXPECT_THAT(pair.client.Poll(), ElementsAre(Id(3)));
  for (uint64_t i = 0; i < 3; ++i) ASSERT_EQ(pair.client.Send(0, 4, i, 0), 0);
  EXPECT_THAT(pair.client.Poll(), IsEmpty());
  ASSERT_EQ(pair.client.Send(0, 4, 9, 0), 0);
  fabric.Settle();
  EXPECT_EQ(pair.client.Send(0, 4, 4), ENOMEM) << "unsignaled sends free nothing";
  EXPECT_THAT(pair.server.Poll(), SizeIs(8));
}

TEST_P(FakeQueuePairTest, AChainStopsAtTheFirstThatDoesNotFit) {
  FabricEndOptions options;
  options.cap.max_send_wr = 2;
  FabricPair pair(fabric, options);
  ASSERT_TRUE(pair.Join());
  ASSERT_EQ(pair.server.Receive(0, 64, 0), 0);
  ASSERT_EQ(pair.server.Receive(1, 64, 1), 0);
  ibv_send_wr chain[3] = {};
  chain[0].next = &chain[1];
  chain[1].next = &chain[2];
  for (ibv_send_wr& request : chain) request.opcode = IBV_WR_SEND;
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_send(pair.client.id->qp, chain, &bad), ENOMEM);
  EXPECT_EQ(bad, &chain[2]);
  EXPECT_THAT(pair.server.Poll(), SizeIs(2));
}

TEST_P(FakeQueuePairTest, KeepsItsLimits) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  EXPECT_EQ(pair.client.Send(0, 65, 1, IBV_SEND_INLINE), EINVAL);
  std::vector<ibv_sge> ranges(5, pair.client.Range(0, 1));
  ibv_send_wr send{};
  send.sg_list = ranges.data();
  send.num_sge = 5;
  send.opcode = IBV_WR_SEND;
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_send(pair.client.id->qp, &send, &bad), EINVAL);
  for (uint64_t i = 0; i < 16; ++i) ASSERT_EQ(pair.server.Receive(i, 64, i), 0);
  EXPECT_EQ(pair.server.Receive(16, 64, 16), ENOMEM);
  ASSERT_EQ(pair.client.Send(0, 1, 1), 0);
  fabric.Settle();
  EXPECT_EQ(pair.server.Receive(16, 64, 16), ENOMEM) << "its completion was not polled";
  EXPECT_THAT(pair.server.Poll(), SizeIs(1));
  EXPECT_EQ(pair.server.Receive(16, 64, 16), 0);
}

TEST_P(FakeQueuePairTest, NothingIsSentBeforeItIsConnected) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Ask());
  EXPECT_EQ(pair.client.Receive(0, 8, 1), 0) << "receives may be posted";
  EXPECT_EQ(pair.client.Send(0, 8, 1), EINVAL);
}

TEST_P(FakeQueuePairTest, ASenderWaitsForAReceiveForEver) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  ASSERT_EQ(pair.client.Send(0, 8, 1), 0);
  for (int i = 0; i < 100; ++i) fabric.Step();
  EXPECT_THAT(pair.client.Poll(), IsEmpty());
  EXPECT_EQ(fabric.counters("fakeB").rnrs, 1u);
  ASSERT_EQ(pair.server.Receive(0, 64, 0), 0);
  EXPECT_THAT(pair.client.Poll(), ElementsAre(Status(IBV_WC_SUCCESS)));
  EXPECT_THAT(pair.server.Poll(), SizeIs(1));
}

TEST_P(FakeQueuePairTest, ASharedReceiveWakesWhoeverWaits) {
  FabricPair pair(fabric, {.shared_receives = 4});
  ASSERT_TRUE(pair.Join());
  ASSERT_EQ(pair.client.Send(0, 8, 1), 0);
  ASSERT_EQ(pair.client.Send(0, 8, 2), 0);
  fabric.Settle();
  ASSERT_EQ(pair.server.Receive(0, 64, 0), 0);
  EXPECT_THAT(pair.client.Poll(), ElementsAre(Id(1)));
  ASSERT_EQ(pair.server.Receive(1, 64, 1), 0);
  EXPECT_THAT(pair.client.Poll(), ElementsAre(Id(2)));
  EXPECT_EQ(fabric.counters("fakeB").rnrs, 2u);
  EXPECT_THAT(pair.server.Poll(), SizeIs(2));
}

TEST_P(FakeQueuePairTest, RetriesForAReceiveRunOut) {
  FabricPair pair(fabric, {.rnr_retry = 2});
  ASSERT_TRUE(pair.Join());
  ASSERT_EQ(pair.client.Send(0, 8, 1), 0);
  ASSERT_EQ(pair.client.Send(0, 8, 2, 0), 0);
  EXPECT_THAT(pair.client.Poll(),
              ElementsAre(Status(IBV_WC_RNR_RETRY_EXC_ERR), Status(IBV_WC_WR_FLUSH_ERR)));
  EXPECT_EQ(fabric.counters("fakeB").rnrs, 3u);
}

TEST_P(FakeQueuePairTest, AMessageLongerThanTheReceiveBreaksBoth) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  ASSERT_EQ(pair.server.Receive(0, 4, 7), 0);
  ASSERT_EQ(pair.server.Receive(1, 64, 8), 0);
  ASSERT_EQ(pair.client.Send(0, 5, 1), 0);
  EXPECT_THAT(pair.client.Poll(), ElementsAre(Status(IBV_WC_REM_INV_REQ_ERR)));
  EXPECT_THAT(pair.server.Poll(),
              ElementsAre(Status(IBV_WC_LOC_LEN_ERR), Status(IBV_WC_WR_FLUSH_ERR)));
}

TEST_P(FakeQueuePairTest, InErrorAllIsFlushedInOrder) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  for (uint64_t i = 0; i < 2; ++i) ASSERT_EQ(pair.client.Receive(i, 64, 10 + i), 0);
  for (uint64_t i = 0; i < 3; ++i) ASSERT_EQ(pair.client.Send(3, 8, i, 0), 0);
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_ERR;
  ASSERT_EQ(fabric.api().ibv.modify_qp(pair.client.id->qp, &attr, IBV_QP_STATE), 0);
  const auto flushed = pair.client.Poll();
  EXPECT_THAT(flushed, ElementsAre(Id(0), Id(1), Id(2), Id(10), Id(11)));
  EXPECT_THAT(flushed, Each(Status(IBV_WC_WR_FLUSH_ERR)));
  ASSERT_EQ(pair.client.Send(3, 8, 20), 0) << "an error state takes them and flushes";
  ASSERT_EQ(pair.client.Receive(4, 8, 21), 0);
  EXPECT_THAT(pair.client.Poll(), SizeIs(2));
}

TEST_P(FakeQueuePairTest, WithASharedQueueTheLastWorkRequestIsAnEvent) {
  FabricPair pair(fabric, {.shared_receives = 4});
  ASSERT_TRUE(pair.Join());
  fabric.faults().BreakQueuePair(pair.server.id->qp->qp_num);
  ibv_async_event event{};
  ASSERT_EQ(fabric.api().ibv.get_async_event(pair.server.id->verbs, &event), 0);
  EXPECT_EQ(event.event_type, IBV_EVENT_QP_LAST_WQE_REACHED);
  EXPECT_EQ(event.element.qp, pair.server.id->qp);
  fabric.api().ibv.ack_async_event(&event);
}

TEST_P(FakeQueuePairTest, ABrokenPeerIsNoticedBySendingOnly) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  fabric.faults().BreakQueuePair(pair.server.id->qp->qp_num);
  fabric.Settle();
  EXPECT_EQ(pair.client.NextType(), -1);
  EXPECT_EQ(fabric.queue_pair(pair.client.id->qp->qp_num).qp_state, IBV_QPS_RTS);
  ASSERT_EQ(pair.client.Send(0, 8, 1), 0);
  EXPECT_THAT(pair.client.Poll(), ElementsAre(Status(IBV_WC_RETRY_EXC_ERR)));
}

TEST_P(FakeQueuePairTest, RxeRetriesForEverAtSeven) {
  FabricPair pair(fabric, {.retry_count = 7});
  ASSERT_TRUE(pair.Join());
  fabric.faults().BreakQueuePair(pair.server.id->qp->qp_num);
  ASSERT_EQ(pair.client.Send(0, 8, 1), 0);
  for (int i = 0; i < 1000; ++i) fabric.Step();
  EXPECT_THAT(pair.client.Poll(), IsEmpty());
}

TEST_P(FakeQueuePairTest, CompletionsOutliveTheirQueuePair) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  ASSERT_EQ(pair.server.Receive(0, 64, 0), 0);
  ASSERT_EQ(pair.client.Send(0, 8, 1), 0);
  fabric.Settle();
  pair.client.DestroyQp();
  EXPECT_THAT(pair.client.Poll(), ElementsAre(Id(1)));
}

TEST_P(FakeQueuePairTest, WhatADeviceRefusesAtCreation) {
  const auto refused = [&](auto change) {
    FabricEndOptions options;
    change(options);
    FabricEnd end(fabric, options);
    return end.MakeId() && end.Resolve("10.9.0.2", 1) && !end.Prepare() && errno == EINVAL;
  };
  EXPECT_TRUE(refused([](auto& options) { options.cap.max_inline_data = 257; }));
  EXPECT_TRUE(refused([](auto& options) { options.cap.max_send_sge = 17; }));
  EXPECT_TRUE(refused([](auto& options) { options.cap.max_send_wr = 16'385; }));
  EXPECT_TRUE(refused([](auto& options) { options.cap.max_recv_wr = 16'385; }));
  EXPECT_TRUE(refused([](auto& options) { options.entries = (1 << 22) + 1; }));
  EXPECT_TRUE(refused([](auto& options) { options.shared_receives = 32'768; }));
}

TEST_P(FakeQueuePairTest, BothHalvesOfAConnectionMayShareADevice) {
  FabricEnd listener(fabric);
  FabricEnd client(fabric);
  ASSERT_TRUE(listener.MakeId() && listener.Listen("10.9.0.1", kFabricPort));
  ASSERT_TRUE(client.MakeId() && client.Resolve("10.9.0.1", kFabricPort, "10.9.0.1"));
  ASSERT_TRUE(client.Prepare() && client.Connect());
  FabricEnd server(fabric);
  server.Adopt(listener);
  server.id = listener.Next()->id;
  ASSERT_TRUE(server.Prepare() && server.Accept());
  ASSERT_EQ(client.NextType(), RDMA_CM_EVENT_ESTABLISHED);
  ASSERT_EQ(server.Receive(0, 64, 0), 0);
  ASSERT_EQ(client.Send(0, 8, 1), 0);
  EXPECT_THAT(server.Poll(), SizeIs(1));
  EXPECT_THAT(client.Poll(), SizeIs(1));
}

}  // namespace
}  // namespace farcall
