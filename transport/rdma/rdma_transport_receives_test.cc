// SPDX-License-Identifier: Apache-2.0
//
// Receives of the shared queue that a device does not give back.

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "gtest/gtest.h"
#include "transport/rdma/rdma_transport.h"
#include "transport/rdma/rdma_transport_testing.h"

namespace farcall {
namespace {

class RdmaReceivesTest : public RdmaTransportTest {
 protected:
  RdmaTraffic TrafficOfB() {
    harness_->DrainControl();
    const RdmaStatus status = harness_->rdma().Status(std::chrono::seconds(10));
    const auto found = std::find_if(status.devices.begin(), status.devices.end(),
                                    [](const auto& device) { return device.name == "fakeB"; });
    return found == status.devices.end() ? RdmaTraffic() : found->traffic;
  }
  void Connect(uint8_t token) {
    const Offer offer = Await(Pass(token));
    ASSERT_TRUE(offer.ok()) << offer.status();
    ASSERT_TRUE(ConnectToOffer(OnlyB(*offer), Pass(token)).ok());
    Echo();
  }
  void Disconnect() {
    client_.reset();
    server_.reset();
  }
};

// A step of those by which they grow.
constexpr uint32_t kReceives = 128;

TEST_F(RdmaReceivesTest, WhatGoesWithAQueuePairIsCountedAndReplaced) {
  Start([](FakeFabricOptions&, RdmaRigOptions& rig) {
    rig.rdma.shared_receives = kReceives;
    rig.rdma.max_shared_receives = 2 * kReceives;
  });
  fabric().faults().KeepReceives("fakeB");
  Connect(1);
  Disconnect();
  ASSERT_TRUE(harness_->Until([&] { return TrafficOfB().silent_ends == 1; }));
  Connect(2);
  EXPECT_GE(TrafficOfB().receives_lost, 2u) << "what it had taken";
  for (int i = 0; i < 500 && TrafficOfB().receives_lost != 2; ++i) Echo();
  const RdmaTraffic traffic = TrafficOfB();
  EXPECT_EQ(traffic.receives_lost, 2u);
  EXPECT_EQ(traffic.receive_slots, kReceives);
  // But for some that are posted together with the next ones.
  EXPECT_GT(traffic.receives_posted, kReceives - 16);
}

// Few calls each: no end is settled before the next one.
TEST_F(RdmaReceivesTest, ManyEndsThatAreNotToldLeaveRoomForMore) {
  Start([](FakeFabricOptions&, RdmaRigOptions& rig) {
    rig.rdma.shared_receives = kReceives;
    rig.rdma.max_shared_receives = 4 * kReceives;
  });
  fabric().faults().KeepReceives("fakeB");
  for (uint8_t round = 1; round <= 40; ++round) {
    ASSERT_NO_FATAL_FAILURE(Connect(round));
    for (int i = 0; i < 10; ++i) Echo();
    Disconnect();
    ASSERT_TRUE(harness_->Until([&] { return TrafficOfB().silent_ends == round; }));
  }
}

TEST_F(RdmaReceivesTest, AnEndInOrderLosesNone) {
  Start();
  for (const uint8_t round : {1, 2}) {
    Connect(round);
    Disconnect();
    ASSERT_TRUE(harness_->Until([&] { return TrafficOfB().connections == 0; }));
  }
  EXPECT_EQ(TrafficOfB().silent_ends, 0u);
  EXPECT_EQ(TrafficOfB().receives_lost, 0u);
}

TEST_F(RdmaReceivesTest, BlocksAreOfTheLoopsNode) {
  Start();
  loop().SetMemoryNode(1);
  BlockPool& part = harness_->pool().OnNode(1);
  Connect(1);
  const BlockOwner* came_in = nullptr;
  server_->take = [&](TestPeer& self, Buffer& input) {
    came_in = input.slices().front().block->owner;
    self.Write(input.CutFront(input.size()));
    return size_t{0};
  };
  Echo();
  EXPECT_EQ(came_in, part.Allocate(1)->owner);
  EXPECT_NE(came_in, harness_->pool().Allocate(1)->owner);
}

}  // namespace
}  // namespace farcall
