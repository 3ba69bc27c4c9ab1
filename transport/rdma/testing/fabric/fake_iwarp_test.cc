// SPDX-License-Identifier: Apache-2.0
//
// What is different with iWARP.

#include <errno.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transport/rdma/testing/fabric/fabric_end.h"
#include "transport/rdma/testing/fabric/fake_fabric.h"

namespace farcall {
namespace {

using testing::SizeIs;
using testing::StartsWith;

FakeFabricOptions Iwarp(FakeMode mode) {
  FakeFabricOptions options{.mode = mode};
  for (FakeDeviceOptions& device : options.devices) device.link = FakeLink::kIwarp;
  return options;
}

using FakeIwarpTest = testing::TestWithParam<FakeMode>;
INSTANTIATE_TEST_SUITE_P(Modes, FakeIwarpTest,
                         testing::Values(FakeMode::kImmediate, FakeMode::kStepped));

TEST_P(FakeIwarpTest, PrivateDataIsExactAndMayBeLonger) {
  FakeFabric fabric(Iwarp(GetParam()));
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Ask(std::string(200, 'x')));
  EXPECT_THAT(pair.request->data, SizeIs(200));
  ASSERT_TRUE(pair.Answer("y"));
  EXPECT_EQ(pair.reply->data, "y");
}

TEST_P(FakeIwarpTest, ConnectFailsAtOnceWhereNobodyListens) {
  FakeFabric fabric(Iwarp(GetParam()));
  FabricEnd client(fabric);
  ASSERT_TRUE(client.MakeId() && client.Resolve("10.9.0.2", 9) && client.Prepare());
  EXPECT_FALSE(client.Connect());
  EXPECT_EQ(errno, ECONNREFUSED);
}

TEST_P(FakeIwarpTest, AcceptingWhatWasTakenBackFails) {
  FakeFabric fabric(Iwarp(GetParam()));
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Ask());
  pair.client.Release();
  EXPECT_EQ(pair.listener.NextType(), -1);
  EXPECT_FALSE(pair.server.Accept());
  EXPECT_EQ(errno, ECONNRESET);
}

TEST_P(FakeIwarpTest, DisconnectingEndsBothAtOnce) {
  FakeFabric fabric(Iwarp(GetParam()));
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  ASSERT_EQ(fabric.api().rdma.disconnect(pair.client.id), 0);
  EXPECT_EQ(pair.client.NextType(), RDMA_CM_EVENT_DISCONNECTED);
  EXPECT_EQ(pair.listener.NextType(), RDMA_CM_EVENT_DISCONNECTED);
  EXPECT_EQ(pair.listener.NextType(), -1);
}

TEST_P(FakeIwarpTest, PostingGivesNegativeErrors) {
  FakeFabric fabric(Iwarp(GetParam()));
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  EXPECT_EQ(pair.client.Send(0, 65, 1, IBV_SEND_INLINE), -EINVAL);
}

TEST_P(FakeIwarpTest, OneBrokenSideEndsTheStreamForBoth) {
  FakeFabric fabric(Iwarp(GetParam()));
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  ASSERT_EQ(pair.server.Receive(0, 8, 1), 0);
  fabric.faults().BreakQueuePair(pair.client.id->qp->qp_num);
  EXPECT_EQ(pair.listener.NextType(), RDMA_CM_EVENT_DISCONNECTED);
  EXPECT_EQ(pair.client.NextType(), RDMA_CM_EVENT_DISCONNECTED);
  EXPECT_EQ(pair.client.NextType(), -1) << "there is no time-wait";
  ASSERT_THAT(pair.server.Poll(), SizeIs(1));
}

TEST_P(FakeIwarpTest, AMessageWithoutAReceiveEndsIt) {
  FakeFabric fabric(Iwarp(GetParam()));
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  ASSERT_EQ(pair.client.Send(0, 8, 1), 0);
  const auto failed = pair.client.Poll();
  ASSERT_THAT(failed, SizeIs(1));
  EXPECT_NE(failed[0].status, IBV_WC_SUCCESS);
  EXPECT_EQ(fabric.counters("fakeB").rnrs, 1u);
  EXPECT_EQ(pair.listener.NextType(), RDMA_CM_EVENT_DISCONNECTED);
}

TEST_P(FakeIwarpTest, ThePassiveSideMayNotSendFirst) {
  FakeFabric fabric(Iwarp(GetParam()));
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  ASSERT_EQ(pair.client.Receive(0, 8, 1), 0);
  ASSERT_EQ(pair.server.Send(0, 8, 1), 0);
  ASSERT_THAT(fabric.violations(), SizeIs(1));
  EXPECT_THAT(fabric.violations()[0], StartsWith("the passive side of an iWARP"));
  fabric.ExpectViolations();
}

}  // namespace
}  // namespace farcall
