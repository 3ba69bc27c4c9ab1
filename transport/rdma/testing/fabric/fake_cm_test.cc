// SPDX-License-Identifier: Apache-2.0
//
// Connecting by the fake connection manager: addresses, private data, rejects.

#include <errno.h>
#include <poll.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transport/rdma/testing/fabric/fabric_end.h"
#include "transport/rdma/testing/fabric/fake_cm_testing.h"
#include "transport/rdma/testing/fabric/fake_fabric.h"
#include "transport/sockaddr.h"

namespace farcall {
namespace {

using testing::SizeIs;

INSTANTIATE_TEST_SUITE_P(Modes, FakeCmTest,
                         testing::Values(FakeMode::kImmediate, FakeMode::kStepped));

TEST_P(FakeCmTest, CarriesPrivateDataPaddedBothWays) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Ask("request"));
  EXPECT_EQ(pair.request->data, std::string("request") + std::string(49, '\0'));
  EXPECT_EQ(pair.server.id->context, &pair.listener) << "it inherits the listener's";
  EXPECT_STREQ(pair.server.id->verbs->device->name, "fakeB");
  EXPECT_STREQ(pair.client.id->verbs->device->name, "fakeA");
  ASSERT_TRUE(pair.Answer("reply"));
  EXPECT_EQ(pair.reply->data, std::string("reply") + std::string(191, '\0'));
}

TEST_P(FakeCmTest, LimitsPrivateData) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Ask());
  EXPECT_FALSE(pair.server.Accept(std::string(197, 'x')));
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(fabric.api().rdma.reject(pair.server.id, std::string(149, 'x').data(), 149), -1);
  ASSERT_TRUE(pair.Answer(std::string(196, 'x')));

  FabricEnd other(fabric);
  ASSERT_TRUE(other.MakeId() && other.Resolve("10.9.0.2", kFabricPort) && other.Prepare());
  EXPECT_FALSE(other.Connect(std::string(57, 'x')));
  EXPECT_EQ(errno, EINVAL);
  EXPECT_TRUE(other.Connect(std::string(56, 'x')));
}

TEST_P(FakeCmTest, ARejectTellsItsReason) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Ask());
  ASSERT_EQ(pair.client.Receive(0, 8, 5), 0);
  ASSERT_EQ(fabric.api().rdma.reject(pair.server.id, "no", 2), 0);
  const auto event = pair.client.Next();
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->type, RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(event->status, 28);
  EXPECT_EQ(event->data, std::string("no") + std::string(146, '\0'));
  const auto flushed = pair.client.Poll();
  ASSERT_THAT(flushed, SizeIs(1));
  EXPECT_EQ(flushed[0].status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(flushed[0].wr_id, 5u);
}

TEST_P(FakeCmTest, WhereNobodyListensItIsRejected) {
  FabricEnd client(fabric);
  ASSERT_TRUE(client.MakeId() && client.Resolve("10.9.0.2", 9) && client.Prepare());
  ASSERT_TRUE(client.Connect());
  const auto event = client.Next();
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->type, RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(event->status, 8);
}

TEST_P(FakeCmTest, TheBacklogRejects) {
  FabricEnd listener(fabric);
  ASSERT_TRUE(listener.MakeId() && listener.Listen("10.9.0.2", kFabricPort, 1));
  FabricEnd clients[2] = {FabricEnd(fabric), FabricEnd(fabric)};
  for (FabricEnd& client : clients) {
    ASSERT_TRUE(client.MakeId() && client.Resolve("10.9.0.2", kFabricPort) && client.Prepare());
    ASSERT_TRUE(client.Connect());
    fabric.Settle();
  }
  EXPECT_EQ(clients[1].NextType(), RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(clients[0].NextType(), -1);
  listener.Release();
  EXPECT_EQ(clients[0].NextType(), RDMA_CM_EVENT_REJECTED) << "with the listener goes the request";
}

TEST_P(FakeCmTest, UnknownAddressesDoNotResolve) {
  FabricEnd client(fabric);
  ASSERT_TRUE(client.MakeId());
  SocketAddress nowhere = *ToSocketAddress(Address::Ipv4({10, 77, 0, 1}, 1));
  ASSERT_EQ(fabric.api().rdma.resolve_addr(client.id, nullptr, nowhere.get(), 1), 0);
  const auto event = client.Next();
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->type, RDMA_CM_EVENT_ADDR_ERROR);
  EXPECT_LT(event->status, 0);
  EXPECT_EQ(fabric.api().rdma.resolve_route(client.id, 1), -1);
  EXPECT_EQ(errno, EINVAL);
}

TEST_P(FakeCmTest, TheSourceChoosesTheDevice) {
  FabricEnd client(fabric);
  ASSERT_TRUE(client.MakeId() && client.Resolve("fd09::2", kFabricPort, "fd09::2"));
  EXPECT_STREQ(client.id->verbs->device->name, "fakeB");
  FabricEnd other(fabric);
  ASSERT_TRUE(other.MakeId() && other.Resolve("fd09::2", kFabricPort));
  EXPECT_STREQ(other.id->verbs->device->name, "fakeA");
  fabric.faults().SetPort("fakeA", false);
  FabricEnd third(fabric);
  ASSERT_TRUE(third.MakeId() && third.Resolve("10.9.0.2", kFabricPort));
  EXPECT_STREQ(third.id->verbs->device->name, "fakeB") << "the other has no active port";
}

TEST_P(FakeCmTest, PortsBelongToOneListener) {
  FabricEnd listener(fabric);
  ASSERT_TRUE(listener.MakeId() && listener.Listen("10.9.0.2", kFabricPort));
  FabricEnd same(fabric);
  ASSERT_TRUE(same.MakeId());
  EXPECT_FALSE(same.Listen("10.9.0.2", kFabricPort));
  EXPECT_EQ(errno, EADDRINUSE);
  EXPECT_FALSE(same.Listen("0.0.0.0", kFabricPort));
  EXPECT_EQ(errno, EADDRINUSE);
  EXPECT_FALSE(same.Listen("10.9.0.77", kFabricPort));
  EXPECT_EQ(errno, ENODEV);
  EXPECT_TRUE(same.Listen("10.9.0.1", kFabricPort)) << "the other device has ports of its own";
  FabricEnd any(fabric);
  ASSERT_TRUE(any.MakeId() && any.Listen("0.0.0.0", 0));
  EXPECT_NE(fabric.api().rdma.get_src_port(any.id), 0);
  EXPECT_EQ(any.id->verbs, nullptr) << "a wildcard has no device";
  EXPECT_NE(listener.id->verbs, nullptr);
}

TEST_P(FakeCmTest, EachSideRetriesAsTheOtherAsked) {
  FabricPair pair(fabric, {.retry_count = 3, .rnr_retry = 5});
  ASSERT_TRUE(pair.client.MakeId());
  uint8_t timeout = 14;
  uint8_t tos = 104;
  const auto& rdma = fabric.api().rdma;
  ASSERT_EQ(rdma.set_option(pair.client.id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout,
                            sizeof(timeout)),
            0);
  ASSERT_EQ(rdma.set_option(pair.client.id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)),
            0);
  int wide = 1;
  EXPECT_EQ(
      rdma.set_option(pair.client.id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &wide, sizeof(wide)), -1);
  EXPECT_EQ(fabric.id_options(pair.client.id).tos, 104);
  EXPECT_EQ(fabric.id_options(pair.client.id).ack_timeout, 14);
  ASSERT_TRUE(pair.listener.MakeId() && pair.listener.Listen("0.0.0.0", kFabricPort));
  ASSERT_TRUE(pair.client.Resolve("10.9.0.2", kFabricPort) && pair.client.Prepare());
  ASSERT_TRUE(pair.client.Connect());
  pair.request = pair.listener.Next();
  ASSERT_TRUE(pair.request.has_value());
  pair.server.Adopt(pair.listener);
  pair.server.id = pair.request->id;
  ASSERT_TRUE(pair.server.Prepare());
  ASSERT_EQ(fabric.queue_pair(pair.server.id->qp->qp_num).qp_state, IBV_QPS_INIT);
  rdma_conn_param param{};
  param.rnr_retry_count = 2;
  ASSERT_EQ(rdma.accept(pair.server.id, &param), 0);
  ASSERT_EQ(pair.client.NextType(), RDMA_CM_EVENT_ESTABLISHED);

  const ibv_qp_attr active = fabric.queue_pair(pair.client.id->qp->qp_num);
  EXPECT_EQ(active.qp_state, IBV_QPS_RTS);
  EXPECT_EQ(active.retry_cnt, 3);
  EXPECT_EQ(active.rnr_retry, 2);
  EXPECT_EQ(active.timeout, 14);
  EXPECT_EQ(active.dest_qp_num, pair.server.id->qp->qp_num);
  const ibv_qp_attr passive = fabric.queue_pair(pair.server.id->qp->qp_num);
  EXPECT_EQ(passive.rnr_retry, 5);
  EXPECT_NE(passive.timeout, 14) << "the ACK timeout is local";

  ibv_qp_attr change{};
  change.min_rnr_timer = 12;
  ASSERT_EQ(fabric.api().ibv.modify_qp(pair.client.id->qp, &change, IBV_QP_MIN_RNR_TIMER), 0);
  EXPECT_EQ(fabric.queue_pair(pair.client.id->qp->qp_num).min_rnr_timer, 12);
  EXPECT_EQ(fabric.api().ibv.modify_qp(pair.client.id->qp, &change, IBV_QP_TIMEOUT), EINVAL);
}

TEST_P(FakeCmTest, AChannelIsReadableWhileItHasEvents) {
  FabricEnd client(fabric);
  ASSERT_TRUE(client.MakeId());
  pollfd readable{.fd = client.channel->fd, .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&readable, 1, 0), 0);
  SocketAddress to = *ToSocketAddress(Address::Ipv4({10, 9, 0, 2}, 1));
  ASSERT_EQ(fabric.api().rdma.resolve_addr(client.id, nullptr, to.get(), 1), 0);
  fabric.Settle();
  EXPECT_EQ(::poll(&readable, 1, 0), 1);
  EXPECT_EQ(client.NextType(), RDMA_CM_EVENT_ADDR_RESOLVED);
  EXPECT_EQ(::poll(&readable, 1, 0), 0);
}

}  // namespace
}  // namespace farcall
