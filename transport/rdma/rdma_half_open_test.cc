// SPDX-License-Identifier: Apache-2.0
//
// Clients that are let in and leave the rest undone.

#include "transport/rdma/rdma_hostile_testing.h"

namespace farcall {
namespace {

// Time passes when a test says so.
class RdmaHalfOpenTest : public RdmaHostileTest {
 protected:
  static constexpr int kMax = 256;  // RdmaHost's

  RdmaHalfOpenTest() {
    Start([this](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
      Small(fabric, rig);
      // Four receives for each.
      rig.rdma.shared_receives = 2048;
      rig.rdma.receive_slots = 4;
      rig.pool.region_bytes = size_t{64} << 20;
      rig.clock = &clock_;
    });
  }
  ~RdmaHalfOpenTest() override {
    clock_.SetRunning(true);
    Finish();
  }
  SteppedClock clock_;
};

// Let in, and never ready: each is given up after connect_timeout, and its token stays void.
TEST_F(RdmaHalfOpenTest, ConnectsAreGivenUp) {
  std::vector<UpgradePass> passes;
  for (int i = 0; i < 40; ++i) passes.push_back(NextPass());
  std::vector<std::unique_ptr<FabricEnd>> ends;
  for (const UpgradePass& pass : passes) ends.push_back(Ask(Greeting(pass)));
  harness_->Settle();
  ExpectServed();
  Drop();
  clock_.AdvanceTo(clock_.Now() + timeout_);
  EXPECT_TRUE(harness_->Until([&] { return fabric().faults().QueuePairs("fakeB").empty(); }))
      << "their time is over";
  EXPECT_FALSE(ConnectToOffer(offer_, passes[7]).ok()) << "it was shown";
  ExpectServed();
  for (const auto& end : ends) {
    while (end->Next()) {
    }
  }
}

// As many as may be set up at once: a client that comes then gets the reason, and is let in when
// their time is over. Nothing is left of any of them.
TEST_F(RdmaHalfOpenTest, ConnectsAtTheLimitHoldUpOthersForTheirTimeOnly) {
  std::vector<std::unique_ptr<FabricEnd>> ends;
  for (int i = 0; i < kMax; ++i) {
    const std::string greeting = Greeting(NextPass());
    ends.push_back(Ask(greeting));
  }
  harness_->Settle();
  const UpgradePass pass = NextPass();
  const absl::Status refused = ConnectToOffer(offer_, pass);
  EXPECT_TRUE(absl::StrContains(refused.message(), "capacity")) << refused;
  EXPECT_TRUE(absl::StrContains(refused.message(), "too many connections")) << refused;
  clock_.AdvanceTo(clock_.Now() + timeout_);
  harness_->Settle();
  // Its token was not used up.
  const absl::Status connect_status = ConnectToOffer(offer_, pass);
  EXPECT_TRUE(connect_status.ok()) << connect_status;
  Echo();
  for (const auto& end : ends) {
    while (end->Next()) {
    }
  }
}

}  // namespace
}  // namespace farcall
