// SPDX-License-Identifier: Apache-2.0
//
// Set-up over TCP names a GID of its port by its place in the port's table, which may change.

#include <cstdint>

#include "gtest/gtest.h"
#include "transport/rdma/rdma_transport_testing.h"

namespace farcall {
namespace {

class RdmaGidsTest : public RdmaTransportTest {
 protected:
  RdmaGidsTest() {
    Start([](FakeFabricOptions&, RdmaRigOptions& rig) {
      rig.rdma.set_up = RdmaSetUp::kOverTcp;
      // While one is down the other is there: no look for want of a device.
      rig.rdma.devices = {"fakeA", "fakeB"};
    });
  }

  FakeFaults& faults() { return fabric().faults(); }
  bool Works() {
    Drop();
    const Offer offer = Await(Pass(++token_));
    return offer.ok() && ConnectToOffer(OnlyB(*offer), Pass(token_)).ok();
  }
  int IndexInUse() {
    return fabric().queue_pair(faults().QueuePairs("fakeB").at(0)).ah_attr.grh.sgid_index;
  }

  uint8_t token_ = 0;
};

TEST_F(RdmaGidsTest, AreLookedUpAgainAfterAPortCameBack) {
  ASSERT_TRUE(Works());
  const int before = IndexInUse();
  faults().SetPort("fakeB", false);
  ASSERT_TRUE(harness_->Until([&] { return !Works(); }));
  faults().MoveGids("fakeB", 8);
  faults().SetPort("fakeB", true);
  ASSERT_TRUE(harness_->Until([&] { return Works(); }));
  Echo();
  EXPECT_EQ(IndexInUse(), before + 8);
}

TEST_F(RdmaGidsTest, AreLookedUpAgainWhenTheDeviceSaysThatTheyChanged) {
  ASSERT_TRUE(Works());
  const int before = IndexInUse();
  faults().MoveGids("fakeB", 8);
  EXPECT_FALSE(Works()) << "no event came";
  faults().RaiseEvent("fakeB", IBV_EVENT_GID_CHANGE);
  ASSERT_TRUE(harness_->Until([&] { return Works(); }));
  Echo();
  EXPECT_EQ(IndexInUse(), before + 8);
}

}  // namespace
}  // namespace farcall
