// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/testing/fabric/fake_faults.h"

#include <errno.h>

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transport/rdma/testing/fabric/fabric_end.h"
#include "transport/rdma/testing/fabric/fake_fabric.h"

namespace farcall {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

auto Status(ibv_wc_status status) { return Field("status", &ibv_wc::status, status); }

class FakeFaultsTest : public testing::TestWithParam<FakeMode> {
 protected:
  FakeFaultsTest() : fabric({.mode = GetParam()}) {}
  FakeFabric fabric;
};

INSTANTIATE_TEST_SUITE_P(Modes, FakeFaultsTest,
                         testing::Values(FakeMode::kImmediate, FakeMode::kStepped));

TEST_P(FakeFaultsTest, ANamedCallFailsAtItsTurn) {
  fabric.faults().FailCall("ibv_create_cq", 2, ENOMEM);
  FabricPair pair(fabric);
  EXPECT_FALSE(pair.Join());
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(fabric.faults().last_failed_call(), "ibv_create_cq");
  EXPECT_EQ(pair.server.queue, nullptr) << "the first was the client's";
}

TEST_P(FakeFaultsTest, EachCallMayFailAndNothingIsLeft) {
  uint64_t failed = 0;
  for (uint64_t k = 1;; ++k) {
    {
      FabricPair pair(fabric, {.shared_receives = 4});
      fabric.faults().FailCallNumber(fabric.faults().calls() + k, EIO);
      const std::string before = fabric.faults().last_failed_call();
      if (pair.Join()) break;
      ++failed;
    }
    ASSERT_THAT(fabric.Leaks(), IsEmpty()) << fabric.faults().last_failed_call();
    ASSERT_LT(k, 100u);
  }
  EXPECT_GT(failed, 15u);
  EXPECT_THAT(fabric.violations(), IsEmpty());
}

TEST_P(FakeFaultsTest, EstablishingFailsOnTheActiveSide) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Ask());
  fabric.faults().FailCall("rdma_establish", 1, EIO);
  ASSERT_TRUE(pair.server.Accept());
  EXPECT_EQ(pair.client.NextType(), RDMA_CM_EVENT_CONNECT_ERROR);
  EXPECT_EQ(pair.listener.NextType(), RDMA_CM_EVENT_REJECTED);
}

TEST_P(FakeFaultsTest, CallsAreRecordedByName) {
  FabricPair pair(fabric);
  const uint64_t before = fabric.faults().calls();
  fabric.faults().RecordCalls();
  ASSERT_TRUE(pair.Join());
  const std::vector<std::string> calls = fabric.faults().recorded_calls();
  EXPECT_EQ(calls.size(), fabric.faults().calls() - before);
  EXPECT_THAT(calls, testing::Contains("rdma_accept"));
}

TEST_P(FakeFaultsTest, AReceiveFailsWithTheStatusWanted) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  for (uint64_t i = 0; i < 3; ++i) ASSERT_EQ(pair.server.Receive(i, 64, i), 0);
  fabric.faults().FailReceive("fakeB", 2, IBV_WC_LOC_PROT_ERR);
  for (uint64_t i = 0; i < 2; ++i) ASSERT_EQ(pair.client.Send(0, 8, i), 0);
  EXPECT_THAT(pair.client.Poll(), ElementsAre(Status(IBV_WC_SUCCESS), Status(IBV_WC_REM_OP_ERR)));
  EXPECT_THAT(pair.server.Poll(), ElementsAre(Status(IBV_WC_SUCCESS), Status(IBV_WC_LOC_PROT_ERR),
                                              Status(IBV_WC_WR_FLUSH_ERR)));
}

TEST_P(FakeFaultsTest, AnInjectedEventChangesNothing) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  fabric.faults().InjectEvent("fakeA", RDMA_CM_EVENT_ADDR_CHANGE, 0);
  EXPECT_EQ(pair.client.NextType(), RDMA_CM_EVENT_ADDR_CHANGE);
  ASSERT_EQ(pair.server.Receive(0, 64, 0), 0);
  ASSERT_EQ(pair.client.Send(0, 8, 0), 0);
  EXPECT_THAT(pair.server.Poll(), ElementsAre(Status(IBV_WC_SUCCESS)));
}

TEST_P(FakeFaultsTest, AnEventOfQueuePairsNamesEach) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  fabric.faults().RaiseEvent("fakeA", IBV_EVENT_QP_ACCESS_ERR);
  ibv_async_event event{};
  ASSERT_EQ(fabric.api().ibv.get_async_event(pair.client.id->verbs, &event), 0);
  EXPECT_EQ(event.event_type, IBV_EVENT_QP_ACCESS_ERR);
  EXPECT_EQ(event.element.qp, pair.client.id->qp);
  fabric.api().ibv.ack_async_event(&event);
}

TEST_P(FakeFaultsTest, ASendFailsWithTheStatusWanted) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  for (uint64_t i = 0; i < 3; ++i) ASSERT_EQ(pair.server.Receive(i, 64, i), 0);
  fabric.faults().FailSend("fakeA", 2, IBV_WC_LOC_QP_OP_ERR, 0x88);
  for (uint64_t i = 0; i < 3; ++i) ASSERT_EQ(pair.client.Send(0, 8, i), 0);
  const auto completed = pair.client.Poll();
  EXPECT_THAT(completed, ElementsAre(Status(IBV_WC_SUCCESS), Status(IBV_WC_LOC_QP_OP_ERR),
                                     Status(IBV_WC_WR_FLUSH_ERR)));
  EXPECT_EQ(completed[1].vendor_err, 0x88u);
  EXPECT_THAT(pair.server.Poll(), SizeIs(1));
}

TEST_P(FakeFaultsTest, AnAnswerMayBeLostAfterDelivery) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  ASSERT_EQ(pair.server.Receive(0, 64, 0), 0);
  fabric.faults().FailSend("fakeA", 1, IBV_WC_RETRY_EXC_ERR, 0, /*delivered=*/true);
  ASSERT_EQ(pair.client.Send(0, 8, 1, 0), 0);
  EXPECT_THAT(pair.client.Poll(), ElementsAre(Status(IBV_WC_RETRY_EXC_ERR)));
  EXPECT_THAT(pair.server.Poll(), ElementsAre(Status(IBV_WC_SUCCESS)));
}

TEST_P(FakeFaultsTest, ACutIsReportedAfterTheRetries) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  ASSERT_EQ(pair.server.Receive(0, 64, 0), 0);
  fabric.faults().CutPath("fakeA", "fakeB", FakeFaults::Cut::kReported);
  ASSERT_EQ(pair.client.Send(0, 8, 1), 0);
  for (int i = 0; i < 10; ++i) fabric.Step();
  ibv_wc none;
  EXPECT_EQ(ibv_poll_cq(pair.client.queue, 1, &none), 0);
  EXPECT_THAT(pair.client.Poll(), ElementsAre(Status(IBV_WC_RETRY_EXC_ERR)));
  EXPECT_THAT(pair.server.Poll(), IsEmpty());
}

TEST_P(FakeFaultsTest, ACutThatHealsInTimeLosesNothing) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  ASSERT_EQ(pair.server.Receive(0, 64, 0), 0);
  fabric.faults().CutPath("fakeB", "fakeA", FakeFaults::Cut::kReported);
  ASSERT_EQ(pair.client.Send(0, 8, 1), 0);
  for (int i = 0; i < 5; ++i) fabric.Step();
  fabric.faults().HealPath("fakeA", "fakeB");
  EXPECT_THAT(pair.client.Poll(), ElementsAre(Status(IBV_WC_SUCCESS)));
  EXPECT_THAT(pair.server.Poll(), SizeIs(1));
}

TEST_P(FakeFaultsTest, ASilentCutSaysNothing) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  fabric.faults().CutPath("fakeA", "fakeB", FakeFaults::Cut::kSilent);
  ASSERT_EQ(pair.client.Send(0, 8, 1), 0);
  for (int i = 0; i < 1000; ++i) fabric.Step();
  EXPECT_THAT(pair.client.Poll(), IsEmpty());
  // Disconnecting still ends, and flushes.
  ASSERT_EQ(fabric.api().rdma.disconnect(pair.client.id), 0);
  const auto event = pair.client.Next();
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->type, RDMA_CM_EVENT_DISCONNECTED);
  EXPECT_EQ(event->status, -ETIMEDOUT);
  EXPECT_THAT(pair.client.Poll(), ElementsAre(Status(IBV_WC_WR_FLUSH_ERR)));
  EXPECT_EQ(pair.listener.NextType(), -1);
}

TEST_P(FakeFaultsTest, ALostRequestIsUnreachable) {
  FabricEnd listener(fabric);
  FabricEnd client(fabric);
  ASSERT_TRUE(listener.MakeId() && listener.Listen("10.9.0.2", kFabricPort));
  ASSERT_TRUE(client.MakeId() && client.Resolve("10.9.0.2", kFabricPort) && client.Prepare());
  fabric.faults().LoseNextConnect();
  ASSERT_TRUE(client.Connect());
  const auto event = client.Next();
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->type, RDMA_CM_EVENT_UNREACHABLE);
  EXPECT_EQ(event->status, -ETIMEDOUT);
  EXPECT_EQ(listener.NextType(), -1);
}

TEST_P(FakeFaultsTest, TheNextConnectIsRejectedForTheReasonWanted) {
  FabricEnd client(fabric);
  ASSERT_TRUE(client.MakeId() && client.Resolve("10.9.0.2", kFabricPort) && client.Prepare());
  fabric.faults().RejectNextConnect(6);
  ASSERT_TRUE(client.Connect());
  const auto event = client.Next();
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->type, RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(event->status, 6);
}

TEST_P(FakeFaultsTest, AddressAndRouteFailOnce) {
  fabric.faults().FailNextAddress(-EHOSTUNREACH);
  FabricEnd client(fabric);
  ASSERT_TRUE(client.MakeId());
  EXPECT_FALSE(client.Resolve("10.9.0.2", 1));
  fabric.faults().FailNextRoute(-EINVAL);
  EXPECT_FALSE(client.Resolve("10.9.0.2", 1)) << "the address resolves, the route does not";
  FabricEnd again(fabric);
  EXPECT_TRUE(again.MakeId() && again.Resolve("10.9.0.2", 1));
}

TEST_P(FakeFaultsTest, EventsMayComeLate) {
  FabricEnd client(fabric);
  ASSERT_TRUE(client.MakeId());
  fabric.faults().DelayConnectionEvents(5);
  const uint64_t before = fabric.steps();
  EXPECT_TRUE(client.Resolve("10.9.0.2", 1));
  EXPECT_GE(fabric.steps() - before, 10u);
}

TEST_P(FakeFaultsTest, APortThatGoesDownSaysSoAndLosesMessages) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  fabric.faults().SetPort("fakeB", false);
  ibv_async_event event{};
  ASSERT_EQ(fabric.api().ibv.get_async_event(pair.server.id->verbs, &event), 0);
  EXPECT_EQ(event.event_type, IBV_EVENT_PORT_ERR);
  EXPECT_EQ(event.element.port_num, 1);
  fabric.api().ibv.ack_async_event(&event);
  ibv_port_attr port{};
  ASSERT_EQ(fabric.api().ibv.query_port(pair.server.id->verbs, 1, &port), 0);
  EXPECT_EQ(port.state, IBV_PORT_DOWN);
  ASSERT_EQ(pair.client.Send(0, 8, 1), 0);
  EXPECT_THAT(pair.client.Poll(), ElementsAre(Status(IBV_WC_RETRY_EXC_ERR)));
  fabric.faults().SetPort("fakeB", true);
  ASSERT_EQ(fabric.api().ibv.get_async_event(pair.server.id->verbs, &event), 0);
  EXPECT_EQ(event.event_type, IBV_EVENT_PORT_ACTIVE);
}

TEST_P(FakeFaultsTest, ARemovedDeviceTellsAllItsIdsAndThePeers) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  ASSERT_EQ(pair.server.Receive(0, 64, 0), 0);
  fabric.faults().RemoveDevice("fakeB", /*flush=*/false);
  EXPECT_EQ(pair.client.NextType(), RDMA_CM_EVENT_DISCONNECTED);
  std::vector<rdma_cm_id*> removed;
  while (const auto event = pair.listener.Next()) {
    EXPECT_EQ(event->type, RDMA_CM_EVENT_DEVICE_REMOVAL);
    removed.push_back(event->id);
  }
  EXPECT_THAT(removed, testing::UnorderedElementsAre(pair.listener.id, pair.server.id));
  EXPECT_THAT(pair.server.Poll(), IsEmpty()) << "rxe flushes nothing";
  EXPECT_EQ(fabric.api().ibv.alloc_pd(pair.server.id->verbs), nullptr);
  EXPECT_EQ(errno, EIO);
}

TEST_P(FakeFaultsTest, ARemovedDeviceMayFlush) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  ASSERT_EQ(pair.server.Receive(0, 64, 0), 0);
  fabric.faults().RemoveDevice("fakeB", /*flush=*/true);
  EXPECT_THAT(pair.server.Poll(), ElementsAre(Status(IBV_WC_WR_FLUSH_ERR)));
}

TEST_P(FakeFaultsTest, RemovalWaitsUntilTheLibraryIsAskedAgain) {
  FakeFaults& faults = fabric.faults();
  {
    FabricPair pair(fabric);
    ASSERT_TRUE(pair.Join());
    faults.RemoveDevice("fakeB", /*flush=*/false);
    pair.server.Release();
    EXPECT_TRUE(faults.RemovalPending("fakeB"));
  }
  EXPECT_TRUE(faults.RemovalPending("fakeB")) << "all is freed, but librdmacm has its context";
  EXPECT_FALSE(faults.AddDevice("fakeB"));
  int count = 0;
  ibv_context** const list = fabric.api().rdma.get_devices(&count);
  fabric.api().rdma.free_devices(list);
  EXPECT_EQ(count, 1);
  EXPECT_FALSE(faults.RemovalPending("fakeB"));
  ASSERT_TRUE(faults.AddDevice("fakeB"));
  FabricPair again(fabric);
  EXPECT_TRUE(again.Join());
}

TEST_P(FakeFaultsTest, BreakingOneQueuePairLeavesTheOthers) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  const std::vector<uint32_t> numbers = fabric.faults().QueuePairs("fakeA");
  ASSERT_THAT(numbers, ElementsAre(pair.client.id->qp->qp_num));
  fabric.faults().BreakQueuePair(numbers[0]);
  EXPECT_THAT(fabric.faults().QueuePairs("fakeA"), IsEmpty());
  EXPECT_THAT(fabric.faults().QueuePairs("fakeB"), SizeIs(1));
}

}  // namespace
}  // namespace farcall
