// SPDX-License-Identifier: Apache-2.0
//
// Queue pairs that are set up without rdma_cm: how messages flow, and how they get lost.

#include <errno.h>

#include "gtest/gtest.h"
#include "transport/rdma/testing/fabric/fake_fabric.h"
#include "transport/rdma/testing/fabric/verbs_end.h"

namespace farcall {
namespace {

constexpr char kLost[] = "transport retry counter exceeded";

class FakeVerbsPairTest : public testing::TestWithParam<FakeMode> {
 protected:
  FakeVerbsPairTest() : FakeVerbsPairTest(FakeLink::kRoce) {}
  explicit FakeVerbsPairTest(FakeLink link)
      : fabric(Options(link)), a(fabric, "fakeA"), b(fabric, "fakeB") {}

  static FakeFabricOptions Options(FakeLink link) {
    FakeFabricOptions options{.mode = GetParam()};
    for (FakeDeviceOptions& device : options.devices) device.link = link;
    return options;
  }
  void SetUp() override {
    ASSERT_TRUE(a.Make());
    ASSERT_TRUE(b.Make());
    ASSERT_EQ(a.Init(), 0);
    ASSERT_EQ(b.Init(), 0);
    b.first_packet = 7;
  }
  void Join() {
    ASSERT_EQ(a.Join(b), 0);
    ASSERT_EQ(b.Join(a), 0);
  }
  void ExpectFlows(VerbsEnd& from, VerbsEnd& to, const std::string& text) {
    ASSERT_EQ(to.Receive(), 0);
    ASSERT_EQ(from.Send(text), 0);
    EXPECT_EQ(from.PollStatus(), "success");
    EXPECT_EQ(to.PollStatus(), "success");
    EXPECT_EQ(to.text(), text);
  }
  // And ends `from`.
  void ExpectLost(VerbsEnd& from, VerbsEnd& to) {
    ASSERT_EQ(to.Receive(), 0);
    ASSERT_EQ(from.Send("lost"), 0);
    EXPECT_EQ(from.PollStatus(), kLost);
    EXPECT_EQ(to.PollStatus(), "");
  }

  FakeFabric fabric;
  VerbsEnd a;
  VerbsEnd b;
};

INSTANTIATE_TEST_SUITE_P(Modes, FakeVerbsPairTest,
                         testing::Values(FakeMode::kImmediate, FakeMode::kStepped));

class FakeVerbsPairOfInfiniBandTest : public FakeVerbsPairTest {
 protected:
  FakeVerbsPairOfInfiniBandTest() : FakeVerbsPairTest(FakeLink::kInfiniBand) {}
};

INSTANTIATE_TEST_SUITE_P(Modes, FakeVerbsPairOfInfiniBandTest,
                         testing::Values(FakeMode::kImmediate, FakeMode::kStepped));

TEST_P(FakeVerbsPairTest, MessagesFlowBothWays) {
  Join();
  ExpectFlows(a, b, "to b");
  ExpectFlows(b, a, "back to a");
}

TEST_P(FakeVerbsPairOfInfiniBandTest, TheLidLeadsToThePort) {
  EXPECT_EQ(a.port.link_layer, IBV_LINK_LAYER_INFINIBAND);
  EXPECT_NE(a.port.lid, 0);
  EXPECT_NE(b.port.lid, 0);
  EXPECT_NE(a.port.lid, b.port.lid);
  EXPECT_EQ(a.gid.gid_type, IBV_GID_TYPE_IB);
  Join();
  ExpectFlows(a, b, "to b");
  ExpectFlows(b, a, "back to a");
}

TEST_P(FakeVerbsPairOfInfiniBandTest, SoDoesTheGid) {
  ibv_qp_attr attributes = a.ToReceive(b);
  attributes.ah_attr.dlid = 0;
  attributes.ah_attr.is_global = 1;
  attributes.ah_attr.grh.dgid = b.gid.gid;
  ASSERT_EQ(a.Modify(attributes, VerbsEnd::kToReceive), 0);
  ASSERT_EQ(a.ReadyToSend(), 0);
  ASSERT_EQ(b.Join(a), 0);
  ExpectFlows(a, b, "to b");
}

TEST_P(FakeVerbsPairTest, WhoIsReadyToReceiveNeedNotSend) {
  ASSERT_EQ(a.Join(b), 0);
  ASSERT_EQ(b.ReadyToReceive(a), 0);
  ExpectFlows(a, b, "to b");
  EXPECT_EQ(b.Send("x"), EINVAL);
  ASSERT_EQ(b.ReadyToSend(), 0);
  ExpectFlows(b, a, "back to a");
}

TEST_P(FakeVerbsPairTest, WhatIsSentTooEarlyIsSentAgain) {
  ASSERT_EQ(a.Join(b), 0);
  ASSERT_EQ(b.Receive(), 0);
  ASSERT_EQ(a.Send("early"), 0);
  for (int i = 0; i < 10; ++i) fabric.Step();
  ASSERT_EQ(b.ReadyToReceive(a), 0);
  EXPECT_EQ(a.PollStatus(), "success");
  EXPECT_EQ(b.PollStatus(), "success");
  EXPECT_EQ(b.text(), "early");
}

TEST_P(FakeVerbsPairTest, ButNotForEver) {
  ASSERT_EQ(a.Join(b), 0);
  ExpectLost(a, b);
  ASSERT_EQ(b.Join(a), 0);
  EXPECT_EQ(fabric.queue_pair(a.pair->qp_num).qp_state, IBV_QPS_ERR);
}

TEST_P(FakeVerbsPairTest, NobodyHasThisNumber) {
  ibv_qp_attr attributes = a.ToReceive(b);
  attributes.dest_qp_num = 0xfffff0;
  ASSERT_EQ(a.Modify(attributes, VerbsEnd::kToReceive), 0);
  ASSERT_EQ(a.ReadyToSend(), 0);
  ASSERT_EQ(b.Join(a), 0);
  ExpectLost(a, b);
}

TEST_P(FakeVerbsPairTest, TheNumberIsOfAnotherDevice) {
  ibv_qp_attr attributes = a.ToReceive(b);
  attributes.ah_attr.grh.dgid = a.gid.gid;
  ASSERT_EQ(a.Modify(attributes, VerbsEnd::kToReceive), 0);
  ASSERT_EQ(a.ReadyToSend(), 0);
  ASSERT_EQ(b.Join(a), 0);
  ExpectLost(a, b);
}

TEST_P(FakeVerbsPairTest, ThePeerIsJoinedToAnother) {
  VerbsEnd other(fabric, "fakeA");
  ASSERT_TRUE(other.Make());
  ASSERT_EQ(other.Init(), 0);
  ASSERT_EQ(a.Join(b), 0);
  ASSERT_EQ(b.Join(other), 0);
  ExpectLost(a, b);
}

TEST_P(FakeVerbsPairTest, WhoExpectsOtherPacketNumbersGetsNothing) {
  ibv_qp_attr attributes = b.ToReceive(a);
  ++attributes.rq_psn;
  ASSERT_EQ(a.Join(b), 0);
  ASSERT_EQ(b.Modify(attributes, VerbsEnd::kToReceive), 0);
  ASSERT_EQ(b.ReadyToSend(), 0);
  ExpectFlows(b, a, "the other way is right");
  ExpectLost(a, b);
}

TEST_P(FakeVerbsPairTest, ACutHoldsForThemToo) {
  Join();
  fabric.faults().CutPath("fakeA", "fakeB", FakeFaults::Cut::kReported);
  ExpectLost(a, b);
}

TEST_P(FakeVerbsPairTest, AMessageWaitsUntilThePathIsHealed) {
  Join();
  fabric.faults().CutPath("fakeA", "fakeB", FakeFaults::Cut::kSilent);
  ASSERT_EQ(b.Receive(), 0);
  ASSERT_EQ(a.Send("late"), 0);
  EXPECT_EQ(a.PollStatus(), "");
  fabric.faults().HealPath("fakeA", "fakeB");
  EXPECT_EQ(a.PollStatus(), "success");
  EXPECT_EQ(b.PollStatus(), "success");
}

TEST_P(FakeVerbsPairTest, ThePeerIsGone) {
  Join();
  b.pair.reset();
  ASSERT_EQ(a.Send("lost"), 0);
  EXPECT_EQ(a.PollStatus(), kLost);
}

}  // namespace
}  // namespace farcall
