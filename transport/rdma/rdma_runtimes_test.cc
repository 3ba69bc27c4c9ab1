// SPDX-License-Identifier: Apache-2.0
//
// Two Runtimes of one process on the same devices: they share the contexts that librdmacm opened,
// and with them the events of a device, of which each is read once.

#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "transport/rdma/rdma_transport_testing.h"
#include "transport/rdma/testing/rdma_rig.h"

namespace farcall {
namespace {

class RdmaRuntimesTest : public RdmaTransportTest {
 protected:
  RdmaRuntimesTest() {
    Start();
    other_.emplace(harness_->fake().rig());
    // It uses the devices from now on.
    OnLoop([this] {
      ticket_ = other_->transport().Await(
          other_->loops().at(0), Pass(99), ConnectionOptions(), PeerTrust::kTrusted, nullptr,
          [this](Offer offer) { offered_ = offer.ok(); }, [](auto) {});
    });
    EXPECT_TRUE(harness_->Until([this] { return other_->Step(), offered_; }));
  }
  ~RdmaRuntimesTest() override {
    fabric().faults().HealPath("fakeA", "fakeB");
    EndOther();
  }
  void EndOther() {
    if (!other_) return;
    OnLoop([this] { ticket_.reset(); });
    other_->End();
    other_.reset();
  }
  // The other one first, for as long as it has something to do.
  void LetOtherHearFirst() {
    for (int i = 0; i < 100; ++i) other_->Step();
  }
  void OnLoop(const std::function<void()>& work) {
    while (!other_->loops().at(0).TryRun(work)) other_->loops().at(0).RunOnce();
  }
  void ConnectHere() {
    const Offer offer = Await(Pass(1));
    ASSERT_TRUE(offer.ok()) << offer.status();
    const absl::Status connect_status = ConnectToOffer(OnlyB(*offer), Pass(1));
    ASSERT_TRUE(connect_status.ok()) << connect_status;
    Echo();
  }

  std::optional<RdmaRig> other_;
  std::unique_ptr<UpgradeTicket> ticket_;
  bool offered_ = false;
};

TEST_F(RdmaRuntimesTest, APortThatGoesDownIsHeardOfByBoth) {
  ConnectHere();
  fabric().faults().RaiseEvent("fakeB", IBV_EVENT_PORT_ERR);
  LetOtherHearFirst();
  ASSERT_TRUE(harness_->Until([&] { return server_->over(); }));
  EXPECT_TRUE(absl::StrContains(server_->seen().why.message(), "its port went down"))
      << server_->seen().why;
}

TEST_F(RdmaRuntimesTest, ADeviceThatFailsIsHeardOfByBoth) {
  ConnectHere();
  fabric().faults().RaiseEvent("fakeB", IBV_EVENT_DEVICE_FATAL);
  LetOtherHearFirst();
  ASSERT_TRUE(harness_->Until([&] { return server_->over(); }));
  EXPECT_TRUE(absl::StrContains(server_->seen().why.message(), "failed")) << server_->seen().why;
  EXPECT_TRUE(absl::StrContains(absl::StrJoin(other_->log(), "\n"), "fakeB failed"));
}

// Their numbers are the device's, so that one finds its own only.
TEST_F(RdmaRuntimesTest, AnEventOfAQueuePairIsForWhoseItIs) {
  ConnectHere();
  const auto pairs = fabric().faults().QueuePairs("fakeB");
  fabric().faults().RaiseEvent("fakeB", IBV_EVENT_QP_FATAL);
  LetOtherHearFirst();
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_TRUE(harness_->Until([&] { return server_->over(); }));
}

// A task for one that has just ended does nothing.
TEST_F(RdmaRuntimesTest, OneMayEndWhileTheOtherHears) {
  ConnectHere();
  fabric().faults().RaiseEvent("fakeB", IBV_EVENT_GID_CHANGE);
  harness_->Settle();
  EndOther();
  fabric().faults().RaiseEvent("fakeB", IBV_EVENT_PORT_ERR);
  EXPECT_TRUE(harness_->Until([&] { return server_->over(); }));
}

// A queue of this one's that broke is no reason for the other to give up its own.
TEST_F(RdmaRuntimesTest, ABrokenCompletionQueueIsForWhoseItIs) {
  ConnectHere();
  fabric().faults().RaiseEvent("fakeB", IBV_EVENT_CQ_ERR);
  LetOtherHearFirst();
  EXPECT_TRUE(harness_->Until([&] { return server_->over(); }));
  LetOtherHearFirst();
  EXPECT_FALSE(absl::StrContains(absl::StrJoin(other_->log(), "\n"), "opened anew"))
      << absl::StrJoin(other_->log(), "\n");
}

}  // namespace
}  // namespace farcall
