// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/testing/fabric/fake_fabric.h"

#include <errno.h>

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transport/rdma/testing/fabric/fabric_end.h"

namespace farcall {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Both modes keep the same promises.
class FakeFabricTest : public testing::TestWithParam<FakeMode> {
 protected:
  FakeFabricTest() : fabric({.mode = GetParam()}) {}
  FakeFabric fabric;
};

INSTANTIATE_TEST_SUITE_P(Modes, FakeFabricTest,
                         testing::Values(FakeMode::kImmediate, FakeMode::kStepped));

TEST_P(FakeFabricTest, CarriesAMessageEachWay) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  ASSERT_EQ(pair.server.Receive(0, 64, 11), 0);
  ASSERT_EQ(pair.client.Receive(0, 64, 21), 0);
  pair.client.Fill(1, "hello");
  ASSERT_EQ(pair.client.Send(1, 5, 22), 0);

  const auto received = pair.server.Poll();
  ASSERT_THAT(received, SizeIs(1));
  EXPECT_EQ(received[0].wr_id, 11u);
  EXPECT_EQ(received[0].status, IBV_WC_SUCCESS);
  EXPECT_EQ(received[0].opcode, IBV_WC_RECV);
  EXPECT_EQ(received[0].byte_len, 5u);
  EXPECT_EQ(received[0].qp_num, pair.server.id->qp->qp_num);
  EXPECT_EQ(received[0].src_qp, pair.client.id->qp->qp_num);
  EXPECT_EQ(pair.server.Text(0, 5), "hello");
  const auto sent = pair.client.Poll();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].wr_id, 22u);
  EXPECT_EQ(sent[0].opcode, IBV_WC_SEND);

  pair.server.Fill(1, "you too");
  ASSERT_EQ(pair.server.Send(1, 7, 12), 0);
  ASSERT_THAT(pair.client.Poll(), SizeIs(1));
  EXPECT_EQ(pair.client.Text(0, 7), "you too");
  ASSERT_THAT(pair.server.Poll(), SizeIs(1));
}

TEST_P(FakeFabricTest, CountsWhatEachDeviceDid) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  for (uint64_t i = 0; i < 4; ++i) ASSERT_EQ(pair.server.Receive(i, 64, i), 0);
  ibv_sge ranges[3] = {pair.client.Range(0, 10), pair.client.Range(1, 20), pair.client.Range(2, 5)};
  ibv_send_wr chain[2] = {};
  chain[0].next = &chain[1];
  chain[0].sg_list = ranges;
  chain[0].num_sge = 3;
  chain[1].sg_list = ranges;
  chain[1].num_sge = 1;
  chain[0].opcode = chain[1].opcode = IBV_WR_SEND;
  chain[1].send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(pair.client.id->qp, chain, &bad), 0);
  EXPECT_THAT(pair.client.Poll(), SizeIs(1));
  EXPECT_THAT(pair.server.Poll(), SizeIs(2));

  const FakeCounters out = fabric.counters("fakeA");
  EXPECT_EQ(out.doorbells, 1u);
  EXPECT_EQ(out.sends_posted, 2u);
  EXPECT_EQ(out.signaled_sends, 1u);
  EXPECT_EQ(out.inline_sends, 1u);
  EXPECT_EQ(out.send_completions, 1u);
  EXPECT_EQ(out.messages_out, 2u);
  EXPECT_EQ(out.bytes_out, 45u);
  const FakeCounters in = fabric.counters("fakeB");
  EXPECT_EQ(in.messages_in, 2u);
  EXPECT_EQ(in.bytes_in, 45u);
  EXPECT_EQ(in.receives_posted, 4u);
  EXPECT_EQ(in.receive_doorbells, 4u);
  EXPECT_EQ(in.receive_completions, 2u);
  EXPECT_EQ(in.rnrs, 0u);
  EXPECT_EQ(in.registered_bytes, pair.server.memory.size());
}

TEST_P(FakeFabricTest, GathersAndScatters) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  ibv_sge into[3] = {pair.server.Range(0, 3), pair.server.Range(1, 4), pair.server.Range(2, 100)};
  ibv_recv_wr receive{.wr_id = 1, .next = nullptr, .sg_list = into, .num_sge = 3};
  ibv_recv_wr* bad_receive = nullptr;
  ASSERT_EQ(ibv_post_recv(pair.server.id->qp, &receive, &bad_receive), 0);
  pair.client.Fill(0, "abcde");
  pair.client.Fill(1, "fghijk");
  ibv_sge from[2] = {pair.client.Range(0, 5), pair.client.Range(1, 6)};
  ibv_send_wr send{};
  send.sg_list = from;
  send.num_sge = 2;
  send.opcode = IBV_WR_SEND_WITH_IMM;
  send.imm_data = htobe32(77);
  send.send_flags = IBV_SEND_SIGNALED;
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(pair.client.id->qp, &send, &bad), 0);
  const auto received = pair.server.Poll();
  ASSERT_THAT(received, SizeIs(1));
  EXPECT_EQ(received[0].wc_flags, static_cast<unsigned int>(IBV_WC_WITH_IMM));
  EXPECT_EQ(received[0].imm_data, htobe32(77));
  EXPECT_EQ(pair.server.Text(0, 3) + pair.server.Text(1, 4) + pair.server.Text(2, 4),
            "abcdefghijk");
  EXPECT_THAT(pair.client.Poll(), SizeIs(1));
}

TEST_P(FakeFabricTest, ASharedReceiveQueueServes) {
  FabricPair pair(fabric, {.shared_receives = 8});
  ASSERT_TRUE(pair.Join());
  for (uint64_t i = 0; i < 3; ++i) ASSERT_EQ(pair.server.Receive(i, 64, 100 + i), 0);
  for (uint64_t i = 0; i < 2; ++i) ASSERT_EQ(pair.client.Send(i, 8, i), 0);
  EXPECT_THAT(pair.server.Poll(), SizeIs(2));
  EXPECT_THAT(pair.client.Poll(), SizeIs(2));
}

TEST_P(FakeFabricTest, ACompletionChannelWakesOnceForEachRequest) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  ibv_cq* from = nullptr;
  void* user = nullptr;
  const auto wakes = [&] {
    fabric.Settle();
    return fabric.api().ibv.get_cq_event(pair.server.completions, &from, &user) == 0;
  };
  ASSERT_EQ(pair.server.Receive(0, 64, 0), 0);
  ASSERT_EQ(pair.server.Receive(1, 64, 1), 0);
  ASSERT_EQ(pair.client.Send(0, 1, 0), 0);
  EXPECT_FALSE(wakes()) << "it was not armed";
  EXPECT_EQ(errno, EAGAIN);
  ASSERT_EQ(ibv_req_notify_cq(pair.server.queue, 0), 0);
  EXPECT_FALSE(wakes()) << "what is there already makes no event";
  ASSERT_EQ(pair.client.Send(0, 1, 1), 0);
  ASSERT_TRUE(wakes());
  EXPECT_EQ(from, pair.server.queue);
  EXPECT_EQ(user, &pair.server);
  EXPECT_FALSE(wakes());
  fabric.api().ibv.ack_cq_events(from, 1);
  EXPECT_THAT(pair.server.Poll(), SizeIs(2));
  EXPECT_THAT(pair.client.Poll(), SizeIs(2));
}

TEST_P(FakeFabricTest, SolicitedEventsComeForSolicitedSends) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  for (uint64_t i = 0; i < 2; ++i) ASSERT_EQ(pair.server.Receive(i, 64, i), 0);
  ASSERT_EQ(ibv_req_notify_cq(pair.server.queue, 1), 0);
  ASSERT_EQ(pair.client.Send(0, 1, 0), 0);
  fabric.Settle();
  EXPECT_EQ(fabric.counters("fakeB").completion_events, 0u);
  ASSERT_EQ(pair.client.Send(0, 1, 1, IBV_SEND_SIGNALED | IBV_SEND_SOLICITED), 0);
  fabric.Settle();
  EXPECT_EQ(fabric.counters("fakeB").completion_events, 1u);
}

TEST(FakeDeviceTest, ShowsWhatItsOptionsSay) {
  FakeFabricOptions options;
  options.devices = {
      {.name = "mlx5_0", .addresses = {"10.0.0.1", "fd00::1"}, .active_mtu = IBV_MTU_1024},
      {.name = "ib0", .addresses = {"10.1.0.1"}, .link = FakeLink::kInfiniBand, .max_srq = 0},
      {.name = "siw0", .addresses = {"10.2.0.1"}, .link = FakeLink::kIwarp, .port_active = false},
      {.name = "locked", .permitted = false},
  };
  FakeFabric fabric(options);
  const auto& ibv = fabric.api().ibv;
  int count = 0;
  ibv_device** const list = ibv.get_device_list(&count);
  ASSERT_EQ(count, 4);
  EXPECT_STREQ(ibv.get_device_name(list[0]), "mlx5_0");
  EXPECT_EQ(list[2]->transport_type, IBV_TRANSPORT_IWARP);
  EXPECT_EQ(ibv.open_device(list[3]), nullptr);
  EXPECT_EQ(errno, EACCES);
  std::vector<ibv_context*> open;
  for (int i = 0; i < 3; ++i) open.push_back(ibv.open_device(list[i]));
  ibv.free_device_list(list);

  ibv_port_attr port{};
  ASSERT_EQ(ibv.query_port(open[0], 1, &port), 0);
  EXPECT_EQ(port.link_layer, IBV_LINK_LAYER_ETHERNET);
  EXPECT_EQ(port.active_mtu, IBV_MTU_1024);
  EXPECT_EQ(port.state, IBV_PORT_ACTIVE);
  ASSERT_EQ(ibv.query_port(open[1], 1, &port), 0);
  EXPECT_EQ(port.link_layer, IBV_LINK_LAYER_INFINIBAND);
  ASSERT_EQ(ibv.query_port(open[2], 1, &port), 0);
  EXPECT_EQ(port.state, IBV_PORT_DOWN);
  EXPECT_EQ(ibv.query_port(open[2], 2, &port), EINVAL);

  ibv_gid_entry gids[16] = {};
  ASSERT_EQ(ibv.query_gid_table(open[0], gids, 16), 4);
  EXPECT_EQ(gids[1].gid_type, static_cast<uint32_t>(IBV_GID_TYPE_ROCE_V2));
  EXPECT_EQ(gids[1].gid.raw[12], 10);
  EXPECT_EQ(gids[3].gid.raw[0], 0xfd);
  EXPECT_EQ(gids[3].ndev_ifindex, 2u);

  ibv_device_attr attr{};
  ASSERT_EQ(ibv.query_device(open[1], &attr), 0);
  EXPECT_EQ(attr.max_srq, 0);
  ibv_pd* const domain = ibv.alloc_pd(open[1]);
  ibv_srq_init_attr init{};
  init.attr.max_wr = 1;
  EXPECT_EQ(ibv.create_srq(domain, &init), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  EXPECT_EQ(ibv.dealloc_pd(domain), 0);
  for (ibv_context* context : open) EXPECT_EQ(ibv.close_device(context), 0);
}

TEST(FakeDeviceTest, LimitsWhatIsRegistered) {
  FakeFabricOptions options;
  options.devices[0].memlock = 4096;
  FakeFabric fabric(options);
  const auto& ibv = fabric.api().ibv;
  int count = 0;
  ibv_context** const list = fabric.api().rdma.get_devices(&count);
  ASSERT_EQ(count, 2);
  ibv_context* const context = list[0];
  fabric.api().rdma.free_devices(list);
  ibv_pd* const domain = ibv.alloc_pd(context);
  std::vector<char> memory(8192);
  ibv_mr* const region = ibv.reg_mr(domain, memory.data(), 4096, IBV_ACCESS_LOCAL_WRITE);
  ASSERT_NE(region, nullptr);
  EXPECT_EQ(ibv.reg_mr(domain, &memory[4096], 1, IBV_ACCESS_LOCAL_WRITE), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(ibv.reg_mr(domain, memory.data(), 1, IBV_ACCESS_REMOTE_WRITE), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv.dealloc_pd(domain), EBUSY);
  EXPECT_EQ(ibv.dereg_mr(region), 0);
  EXPECT_EQ(ibv.dealloc_pd(domain), 0);
}

TEST(FakeDeviceTest, FreesInOrderOnly) {
  FakeFabric fabric;
  FabricPair pair(fabric, {.shared_receives = 4});
  ASSERT_TRUE(pair.Join());
  const auto& ibv = fabric.api().ibv;
  EXPECT_EQ(ibv.destroy_cq(pair.client.queue), EBUSY);
  EXPECT_EQ(ibv.destroy_srq(pair.client.shared), EBUSY);
  EXPECT_EQ(ibv.destroy_comp_channel(pair.client.completions), EBUSY);
  EXPECT_EQ(ibv.dealloc_pd(pair.client.domain), EBUSY);
  EXPECT_THAT(fabric.violations(), IsEmpty());
}

}  // namespace
}  // namespace farcall
