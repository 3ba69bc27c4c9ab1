// SPDX-License-Identifier: Apache-2.0
//
// Completions in any order that devices may give them in, and messages in any that the wire may:
// an echo goes to its end, whatever the seed.

#include <cstdint>

#include "gtest/gtest.h"
#include "transport/rdma/rdma_fault_testing.h"

namespace farcall {
namespace {

void AnyOrder(uint64_t seeds, const FakeRdma::Change& kind, uint32_t slots) {
  for (uint64_t seed = 1; seed <= RunsHere(seeds) && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << slots << " slots");
    const FaultOutcome outcome =
        RunWithoutFault([&](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
          kind(fabric, rig);
          fabric.seed = seed;
          fabric.shuffle_completions = true;
          rig.rdma.send_slots = rig.rdma.receive_slots = slots;
        });
    EXPECT_TRUE(outcome.status.ok()) << outcome.trace;
    ExpectReported(outcome);
  }
}

TEST(RdmaOrderTest, ASharedQueue) {
  AnyOrder(200, SmallRdma, 8);
  AnyOrder(200, SmallRdma, 4);
}
TEST(RdmaOrderTest, AQueueOfItsOwn) { AnyOrder(200, SmallRdmaWithoutShared, 4); }
TEST(RdmaOrderTest, References) { AnyOrder(100, SmallRdmaWithReferences, 4); }
TEST(RdmaOrderTest, Iwarp) { AnyOrder(200, SmallIwarp, 4); }

// While it breaks, too.
TEST(RdmaOrderTest, FlushedQueues) {
  for (uint64_t seed = 1; seed <= RunsHere(200) && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    FaultCase test;
    test.change = [&](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
      SmallRdma(fabric, rig);
      fabric.seed = seed;
      fabric.shuffle_completions = true;
    };
    test.fault = [](FakeFabric& fabric) {
      for (const uint32_t pair : fabric.faults().QueuePairs("fakeB")) {
        fabric.faults().BreakQueuePair(pair);
      }
    };
    ExpectReported(RunWithFault(test, static_cast<int>(20 + seed)));
  }
}

}  // namespace
}  // namespace farcall
