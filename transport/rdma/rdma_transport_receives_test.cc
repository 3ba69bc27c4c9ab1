// SPDX-License-Identifier: Apache-2.0
//
// Receives of the shared queue that a device does not give back.

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "gtest/gtest.h"
#include "transport/rdma/rdma_transport.h"
#include "transport/rdma/rdma_transport_testing.h"
#include "transport/rdma/testing/shifted_clock.h"

namespace farcall {
namespace {

class RdmaReceivesTest : public RdmaTransportTest {
 protected:
  ~RdmaReceivesTest() override { Finish(); }
  void Begin(uint32_t receives, uint32_t most) {
    Start([=, this](FakeFabricOptions&, RdmaRigOptions& rig) {
      rig.clock = &clock_;
      rig.rdma.shared_receives = receives;
      rig.rdma.max_shared_receives = most;
    });
  }
  // Once the time is over for which the device is waited for.
  bool SilentEndsBecome(uint64_t number) {
    return harness_->Until([&] {
      clock_.Add(std::chrono::milliseconds(100));
      return TrafficOfB().silent_ends == number;
    });
  }
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

  ShiftedClock clock_;
};

// A step of those by which they grow.
constexpr uint32_t kReceives = 128;

TEST_F(RdmaReceivesTest, WhatGoesWithAQueuePairIsCountedAndReplaced) {
  Begin(kReceives, 2 * kReceives);
  fabric().faults().KeepReceives("fakeB");
  Connect(1);
  Disconnect();
  ASSERT_TRUE(SilentEndsBecome(1));
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
  Begin(kReceives, 4 * kReceives);
  fabric().faults().KeepReceives("fakeB");
  for (uint8_t round = 1; round <= 40; ++round) {
    ASSERT_NO_FATAL_FAILURE(Connect(round));
    for (int i = 0; i < 10; ++i) Echo();
    Disconnect();
    ASSERT_TRUE(SilentEndsBecome(round));
  }
}

TEST_F(RdmaReceivesTest, AnEndInOrderLosesNone) {
  Begin(kReceives, kReceives);
  for (const uint8_t round : {1, 2}) {
    Connect(round);
    Disconnect();
    ASSERT_TRUE(harness_->Until([&] { return TrafficOfB().connections == 0; }));
  }
  EXPECT_EQ(TrafficOfB().silent_ends, 0u);
  EXPECT_EQ(TrafficOfB().receives_lost, 0u);
}

TEST_F(RdmaReceivesTest, BlocksAreOfTheLoopsNode) {
  Begin(kReceives, kReceives);
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
