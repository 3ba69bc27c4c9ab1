// SPDX-License-Identifier: Apache-2.0
//
// Each check bites: small programs that do one thing wrong.

#include <errno.h>

#include <chrono>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transport/rdma/testing/fabric/fabric_end.h"
#include "transport/rdma/testing/fabric/fake_fabric.h"

namespace farcall {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

FakeFabricOptions WithPatience(FakeMode mode, std::chrono::nanoseconds patience) {
  FakeFabricOptions options{.mode = mode};
  for (FakeDeviceOptions& device : options.devices) device.last_wqe_patience = patience;
  return options;
}

class FakeViolationsTest : public testing::TestWithParam<FakeMode> {
 protected:
  FakeViolationsTest()
      : fabric(WithPatience(GetParam(), std::chrono::hours(1))),
        pair(fabric, {.shared_receives = 8}) {}
  void SetUp() override { ASSERT_TRUE(pair.Join()); }
  // The one thing that was wrong.
  void ExpectOnly(const std::string& text) {
    EXPECT_THAT(fabric.violations(), testing::ElementsAre(HasSubstr(text)));
    fabric.ExpectViolations();
  }
  ibv_wc_status PostRange(ibv_sge range) {
    ibv_send_wr send{};
    send.sg_list = &range;
    send.num_sge = 1;
    send.opcode = IBV_WR_SEND;
    send.send_flags = IBV_SEND_SIGNALED;
    ibv_send_wr* bad = nullptr;
    EXPECT_EQ(ibv_post_send(pair.client.id->qp, &send, &bad), 0);
    const auto completed = pair.client.Poll();
    return completed.empty() ? IBV_WC_GENERAL_ERR : completed[0].status;
  }

  FakeFabric fabric;
  FabricPair pair;
};

INSTANTIATE_TEST_SUITE_P(Modes, FakeViolationsTest,
                         testing::Values(FakeMode::kImmediate, FakeMode::kStepped));

TEST_P(FakeViolationsTest, ARangeBeyondItsRegion) {
  ibv_sge range = pair.client.Range(FabricEnd::kSlots - 1, FabricEnd::kSlotBytes + 1);
  EXPECT_EQ(PostRange(range), IBV_WC_LOC_PROT_ERR);
  ExpectOnly("beyond the region");
}

TEST_P(FakeViolationsTest, AKeyOfAnotherDevice) {
  ibv_sge range = pair.client.Range(0, 8);
  range.lkey = pair.server.region->lkey;
  EXPECT_EQ(PostRange(range), IBV_WC_LOC_PROT_ERR);
  ExpectOnly("another device");
}

TEST_P(FakeViolationsTest, AKeyThatNobodyHas) {
  ibv_sge range = pair.client.Range(0, 8);
  range.lkey += 1 << 20;
  EXPECT_EQ(PostRange(range), IBV_WC_LOC_PROT_ERR);
  ExpectOnly("a key that no region has");
}

TEST_P(FakeViolationsTest, ARangeOfNoBytes) {
  EXPECT_EQ(PostRange(pair.client.Range(0, 0)), IBV_WC_LOC_PROT_ERR);
  ExpectOnly("no bytes");
}

TEST_P(FakeViolationsTest, AReceiveInMemoryThatIsOnlyRead) {
  std::string memory(64, 'x');
  ibv_mr* const region = fabric.api().ibv.reg_mr(pair.server.domain, memory.data(), 64, 0);
  ibv_sge range{reinterpret_cast<uint64_t>(memory.data()), 64, region->lkey};
  ibv_recv_wr receive{.wr_id = 1, .next = nullptr, .sg_list = &range, .num_sge = 1};
  ibv_recv_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_srq_recv(pair.server.shared, &receive, &bad), 0);
  EXPECT_EQ(fabric.api().ibv.dereg_mr(region), 0);
  ExpectOnly("IBV_ACCESS_LOCAL_WRITE");
}

TEST_P(FakeViolationsTest, BytesChangedWhileTheyWait) {
  ASSERT_EQ(pair.client.Send(0, 8, 1), 0);  // no receive is there
  fabric.Settle();
  pair.client.Slot(0)[3] ^= 1;
  ASSERT_EQ(pair.server.Receive(0, 64, 1), 0);
  fabric.Settle();
  EXPECT_THAT(fabric.violations(), Contains(HasSubstr("bytes of a send changed")));
  fabric.ExpectViolations();
}

TEST_P(FakeViolationsTest, BytesChangedBeforeTheCompletionWasPolled) {
  ASSERT_EQ(pair.server.Receive(0, 64, 1), 0);
  ASSERT_EQ(pair.client.Send(0, 8, 1), 0);
  fabric.Settle();
  pair.client.Slot(0)[7] ^= 1;
  ASSERT_THAT(pair.client.Poll(), SizeIs(1));
  ExpectOnly("bytes of a send changed");
}

TEST_P(FakeViolationsTest, BytesOfAnUnsignaledSendChangedTooEarly) {
  for (uint64_t i = 0; i < 2; ++i) ASSERT_EQ(pair.server.Receive(i, 64, i), 0);
  ASSERT_EQ(pair.client.Send(0, 8, 1, 0), 0);
  ASSERT_EQ(pair.client.Send(1, 8, 1), 0);
  fabric.Settle();
  pair.client.Slot(0)[0] ^= 1;
  ASSERT_THAT(pair.client.Poll(), SizeIs(1));
  ExpectOnly("bytes of a send changed");
}

TEST_P(FakeViolationsTest, InlineBytesMayChangeAtOnce) {
  ASSERT_EQ(pair.client.Send(0, 8, 1, IBV_SEND_SIGNALED | IBV_SEND_INLINE), 0);
  pair.client.Slot(0)[0] ^= 1;
  ASSERT_EQ(pair.server.Receive(0, 64, 1), 0);
  ASSERT_THAT(pair.client.Poll(), SizeIs(1));
  EXPECT_THAT(fabric.violations(), IsEmpty());
  EXPECT_EQ(pair.server.Slot(0)[0], 0);
}

TEST_P(FakeViolationsTest, AReceiveTouchedWhileItIsPosted) {
  ASSERT_EQ(pair.server.Receive(0, 64, 1), 0);
  pair.server.Slot(0)[63] ^= 1;
  ASSERT_EQ(pair.client.Send(0, 8, 1), 0);
  fabric.Settle();
  ExpectOnly("posted receive were touched");
}

TEST_P(FakeViolationsTest, AQueuePairDestroyedWithReceivesOfTheSharedQueue) {
  ASSERT_EQ(pair.server.Receive(0, 64, 1), 0);
  fabric.faults().BreakQueuePair(pair.server.id->qp->qp_num);
  pair.server.DestroyQp();
  if (GetParam() == FakeMode::kStepped) {
    ExpectOnly("the shared queue has lost receives");
  } else {
    EXPECT_THAT(fabric.violations(), IsEmpty()) << "it gives them back at once";
  }
}

TEST(FakePatienceTest, AQueuePairThatWasWaitedForInVainMayBeDestroyed) {
  FakeFabric fabric(WithPatience(FakeMode::kStepped, std::chrono::nanoseconds(0)));
  FabricPair pair(fabric, {.shared_receives = 8});
  ASSERT_TRUE(pair.Join());
  ASSERT_EQ(pair.server.Receive(0, 64, 1), 0);
  fabric.faults().BreakQueuePair(pair.server.id->qp->qp_num);
  pair.server.DestroyQp();
  EXPECT_THAT(fabric.violations(), IsEmpty());
}

TEST_P(FakeViolationsTest, ARegionTakenAwayUnderAReceive) {
  ASSERT_EQ(pair.server.Receive(0, 64, 1), 0);
  EXPECT_EQ(fabric.api().ibv.dereg_mr(pair.server.region), 0);
  pair.server.region = nullptr;
  ExpectOnly("ibv_dereg_mr of a region in which something is posted");
}

TEST_P(FakeViolationsTest, ARegionTakenAwayUnderASend) {
  ASSERT_EQ(pair.server.Receive(0, 64, 1), 0);
  ASSERT_EQ(pair.client.Send(0, 8, 1), 0);
  fabric.Settle();
  EXPECT_EQ(fabric.api().ibv.dereg_mr(pair.client.region), 0) << "its completion was not polled";
  pair.client.region = nullptr;
  ExpectOnly("ibv_dereg_mr of a region in which something is posted");
}

TEST_P(FakeViolationsTest, PostingToWhatIsDestroyed) {
  ibv_qp* const qp = pair.client.id->qp;
  ibv_srq* const shared = pair.client.shared;
  pair.client.Release();
  ibv_send_wr send{};
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_send(qp, &send, &bad), EINVAL);
  ibv_recv_wr receive{};
  ibv_recv_wr* bad_receive = nullptr;
  EXPECT_EQ(ibv_post_srq_recv(shared, &receive, &bad_receive), EINVAL);
  EXPECT_THAT(fabric.violations(), SizeIs(2));
  fabric.ExpectViolations();
}

TEST_P(FakeViolationsTest, PollingWhatIsDestroyed) {
  ibv_cq* const queue = pair.client.queue;
  pair.client.Release();
  ibv_wc completion;
  EXPECT_EQ(ibv_poll_cq(queue, 1, &completion), -1);
  ExpectOnly("ibv_poll_cq of a queue that is destroyed");
}

TEST_P(FakeViolationsTest, AnIdDestroyedWithItsQueuePair) {
  fabric.api().rdma.destroy_id(pair.client.id);
  pair.client.id = nullptr;
  ExpectOnly("rdma_destroy_id with a queue pair");
}

TEST_P(FakeViolationsTest, AnIdDestroyedWithAnEventInHand) {
  fabric.api().rdma.disconnect(pair.server.id);
  fabric.Settle();
  rdma_cm_event* event = nullptr;
  ASSERT_EQ(fabric.api().rdma.get_cm_event(pair.client.channel, &event), 0);
  pair.client.DestroyQp();
  pair.client.DestroyId();
  EXPECT_EQ(fabric.api().rdma.ack_cm_event(event), 0);
  ExpectOnly("not acknowledged");
}

TEST_P(FakeViolationsTest, AQueueDestroyedWithAnEventInHand) {
  ASSERT_EQ(ibv_req_notify_cq(pair.server.queue, 0), 0);
  ASSERT_EQ(pair.server.Receive(0, 64, 1), 0);
  ASSERT_EQ(pair.client.Send(0, 8, 1), 0);
  fabric.Settle();
  ibv_cq* queue = nullptr;
  void* user = nullptr;
  ASSERT_EQ(fabric.api().ibv.get_cq_event(pair.server.completions, &queue, &user), 0);
  pair.server.Release();
  ExpectOnly("ibv_destroy_cq with events");
}

TEST_P(FakeViolationsTest, AChannelDestroyedBeforeItsIds) {
  pair.client.DestroyQp();
  fabric.api().rdma.destroy_event_channel(pair.client.channel);
  pair.client.channel = nullptr;
  ExpectOnly("rdma_destroy_event_channel with ids");
}

TEST_P(FakeViolationsTest, AnEventAcknowledgedTwice) {
  fabric.api().rdma.disconnect(pair.server.id);
  fabric.Settle();
  rdma_cm_event* event = nullptr;
  ASSERT_EQ(fabric.api().rdma.get_cm_event(pair.client.channel, &event), 0);
  EXPECT_EQ(fabric.api().rdma.ack_cm_event(event), 0);
  EXPECT_EQ(fabric.api().rdma.ack_cm_event(event), -1);
  ExpectOnly("not taken");
}

// It took them from the shared queue for messages to come.
TEST(FakeSharedQueueTest, AQueuePairDestroyedBeforeItGaveUpItsReceives) {
  for (const bool read : {false, true}) {
    FakeFabric fabric({.mode = FakeMode::kStepped});
    FabricPair pair(fabric, {.shared_receives = 8});
    ASSERT_TRUE(pair.Join());
    for (uint64_t slot = 0; slot < 4; ++slot) {
      ASSERT_EQ(pair.server.Receive(slot, FabricEnd::kSlotBytes, slot), 0);
    }
    ibv_qp_attr error{};
    error.qp_state = IBV_QPS_ERR;
    ASSERT_EQ(fabric.api().ibv.modify_qp(pair.server.id->qp, &error, IBV_QP_STATE), 0);
    if (read) {
      fabric.Settle();
      EXPECT_THAT(pair.server.Poll(), SizeIs(2)) << "they are flushed before the event";
    }
    pair.server.DestroyQp();
    EXPECT_THAT(fabric.violations(), SizeIs(read ? 0 : 1));
    if (!read) fabric.ExpectViolations();
  }
}

TEST(FakeOverflowTest, ACompletionQueueThatIsTooSmall) {
  FakeFabric fabric;
  FabricPair pair(fabric, {.entries = 4});
  ASSERT_TRUE(pair.Join());
  for (uint64_t i = 0; i < 5; ++i) ASSERT_EQ(pair.server.Receive(i, 64, i), 0);
  for (uint64_t i = 0; i < 5; ++i) ASSERT_EQ(pair.client.Send(0, 8, i, 0), 0);
  EXPECT_THAT(fabric.violations(), testing::ElementsAre("a completion queue overflowed"));
  fabric.ExpectViolations();
}

TEST(FakeFabricDeathTest, EndsBadlyWhenSomethingIsLeft) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        FakeFabric fabric;
        fabric.api().rdma.create_event_channel();
      },
      "still alive: rdma_event_channel");
}

TEST(FakeFabricDeathTest, OneAtATime) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        FakeFabric fabric;
        FakeFabric another;
      },
      "one FakeFabric at a time");
}

}  // namespace
}  // namespace farcall
