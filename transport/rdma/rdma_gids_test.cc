// SPDX-License-Identifier: Apache-2.0
//
// Set-up over TCP names a GID of its port by its place in the port's table, which may change.

#include <chrono>
#include <cstdint>

#include "gtest/gtest.h"
#include "transport/rdma/rdma_transport_testing.h"
#include "transport/rdma/testing/stepped_clock.h"

namespace farcall {
namespace {

class RdmaGidsTest : public RdmaTransportTest {
 protected:
  RdmaGidsTest() {
    Start([this](FakeFabricOptions&, RdmaRigOptions& rig) {
      rig.clock = &clock_;
      rig.rdma.set_up = RdmaSetUp::kOverTcp;
      // While one is down the other is there: no look for want of a device.
      rig.rdma.devices = {"fakeA", "fakeB"};
    });
  }

  ~RdmaGidsTest() override { Finish(); }  // while there is its clock

  FakeFaults& faults() { return fabric().faults(); }
  bool Works() {
    Drop();
    const Offer offer = Await(Pass(++token_));
    return offer.ok() && ConnectToOffer(OnlyB(*offer), Pass(token_)).ok();
  }
  // Events are looked for every 100 ms.
  bool WorksLater() {
    clock_.AdvanceTo(clock_.Now() + std::chrono::milliseconds(100));
    return Works();
  }
  int IndexInUse() {
    return fabric().queue_pair(faults().QueuePairs("fakeB").at(0)).ah_attr.grh.sgid_index;
  }

  SteppedClock clock_;
  uint8_t token_ = 0;
};

TEST_F(RdmaGidsTest, AreLookedUpAgainAfterAPortCameBack) {
  ASSERT_TRUE(Works());
  const int before = IndexInUse();
  faults().SetPort("fakeB", false);
  ASSERT_TRUE(harness_->Until([&] { return !WorksLater(); }));
  faults().MoveGids("fakeB", 8);
  faults().SetPort("fakeB", true);
  ASSERT_TRUE(harness_->Until([&] { return WorksLater(); }));
  Echo();
  EXPECT_EQ(IndexInUse(), before + 8);
}

TEST_F(RdmaGidsTest, AreLookedUpAgainWhenTheDeviceSaysThatTheyChanged) {
  ASSERT_TRUE(Works());
  const int before = IndexInUse();
  faults().MoveGids("fakeB", 8);
  EXPECT_FALSE(Works()) << "no event came";
  const TimePoint raised = clock_.Now();
  faults().RaiseEvent("fakeB", IBV_EVENT_GID_CHANGE);
  ASSERT_TRUE(harness_->Until([&] { return WorksLater(); }));
  EXPECT_LT(clock_.Now(), raised + std::chrono::seconds(3)) << "then all is looked at in any case";
  Echo();
  EXPECT_EQ(IndexInUse(), before + 8);
}

}  // namespace
}  // namespace farcall
