// SPDX-License-Identifier: Apache-2.0
//
// How connections end, and what is left of one that did not come about.

#include <errno.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transport/rdma/testing/fabric/fabric_end.h"
#include "transport/rdma/testing/fabric/fake_cm_testing.h"
#include "transport/rdma/testing/fabric/fake_fabric.h"

namespace farcall {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

TEST_P(FakeCmTest, DisconnectingEndsWhenThePeerDisconnectsToo) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  ASSERT_EQ(pair.client.Receive(0, 8, 1), 0);
  ASSERT_EQ(fabric.api().rdma.disconnect(pair.client.id), 0);
  EXPECT_EQ(pair.listener.NextType(), RDMA_CM_EVENT_DISCONNECTED);
  EXPECT_EQ(pair.listener.NextType(), -1);
  EXPECT_EQ(pair.client.NextType(), -1) << "the peer has not answered";
  EXPECT_THAT(pair.client.Poll(), SizeIs(1)) << "its own queue pair is in error at once";
  EXPECT_EQ(fabric.queue_pair(pair.server.id->qp->qp_num).qp_state, IBV_QPS_RTS)
      << "the other's is its own business";
  EXPECT_EQ(fabric.api().rdma.disconnect(pair.server.id), 0);
  EXPECT_EQ(fabric.queue_pair(pair.server.id->qp->qp_num).qp_state, IBV_QPS_ERR);
  EXPECT_EQ(pair.client.NextType(), RDMA_CM_EVENT_DISCONNECTED);
  EXPECT_EQ(pair.client.NextType(), RDMA_CM_EVENT_TIMEWAIT_EXIT);
  EXPECT_EQ(pair.listener.NextType(), RDMA_CM_EVENT_TIMEWAIT_EXIT);
  EXPECT_EQ(fabric.api().rdma.disconnect(pair.server.id), 0) << "again does nothing";
}

TEST_P(FakeCmTest, BothMayDisconnectAtOnce) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  ASSERT_EQ(fabric.api().rdma.disconnect(pair.client.id), 0);
  ASSERT_EQ(fabric.api().rdma.disconnect(pair.server.id), 0);
  EXPECT_EQ(pair.client.NextType(), RDMA_CM_EVENT_DISCONNECTED);
  EXPECT_EQ(pair.listener.NextType(), RDMA_CM_EVENT_DISCONNECTED);
}

TEST_P(FakeCmTest, DestroyingTheIdAnswersADisconnect) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  ASSERT_EQ(fabric.api().rdma.disconnect(pair.client.id), 0);
  EXPECT_EQ(pair.listener.NextType(), RDMA_CM_EVENT_DISCONNECTED);
  pair.server.Release();
  EXPECT_EQ(pair.client.NextType(), RDMA_CM_EVENT_DISCONNECTED);
}

TEST_P(FakeCmTest, DestroyingAnIdDisconnectsThePeer) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  pair.client.Release();
  EXPECT_EQ(pair.listener.NextType(), RDMA_CM_EVENT_DISCONNECTED);
}

TEST_P(FakeCmTest, ARequestThatIsTakenBackCannotBeAccepted) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Ask());
  pair.client.Release();
  EXPECT_EQ(pair.listener.NextType(), -1) << "the kernel does not tell";
  EXPECT_FALSE(pair.server.Accept());
  EXPECT_EQ(errno, EINVAL);
}

TEST_P(FakeCmTest, WhoeverLeavesBetweenReplyAndConfirmationIsARejectToTheOther) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Ask());
  ASSERT_TRUE(pair.server.Accept());
  fabric.Settle();
  pair.client.Release();
  EXPECT_EQ(pair.listener.NextType(), RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(fabric.queue_pair(pair.server.id->qp->qp_num).qp_state, IBV_QPS_ERR);
}

TEST_P(FakeCmTest, AReplyFromOneThatIsGoneIsAConnectError) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Ask());
  ASSERT_TRUE(pair.server.Accept());
  fabric.Settle();
  pair.server.Release();
  const auto event = pair.client.Next();
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->type, RDMA_CM_EVENT_CONNECT_ERROR);
  EXPECT_EQ(event->status, -1);
}

TEST_P(FakeCmTest, ThePassiveSideIsEstablishedOnlyWhenTheActiveHasReadTheReply) {
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Ask());
  ASSERT_TRUE(pair.server.Accept());
  EXPECT_EQ(pair.listener.NextType(), -1);
  // It may send already; that arrives once the other is ready.
  ASSERT_EQ(pair.client.Receive(0, 64, 1), 0);
  ASSERT_EQ(pair.server.Send(0, 4, 2), 0);
  EXPECT_THAT(pair.client.Poll(), IsEmpty());
  EXPECT_EQ(pair.client.NextType(), RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_THAT(pair.client.Poll(), SizeIs(1));
  EXPECT_EQ(pair.listener.NextType(), RDMA_CM_EVENT_ESTABLISHED);
}

}  // namespace
}  // namespace farcall
