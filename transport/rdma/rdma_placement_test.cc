// SPDX-License-Identifier: Apache-2.0
//
// Who gets memory back when, whatever ends a transfer by RDMA READ, and at whichever step; with a
// device that writes as late as it may.

#include <string>

#include "gtest/gtest.h"
#include "transport/rdma/rdma_fault_testing.h"
#include "transport/rdma/testing/placement_run.h"

namespace farcall {
namespace {

void WantedBackAtEveryStep(const PlacementCase& test) {
  const PlacementOutcome whole = RunPlacement(test, 0);
  ASSERT_EQ(whole.violation, "");
  ASSERT_GT(whole.reads, 0u);
  int in_flight = 0;
  for (int at = 1; at <= whole.steps && !::testing::Test::HasFailure(); at += PositionsApart()) {
    SCOPED_TRACE(at);
    const PlacementOutcome outcome = RunPlacement(test, at);
    EXPECT_EQ(outcome.violation, "");
    in_flight += outcome.in_flight;
  }
  if (PositionsApart() == 1) {
    EXPECT_GT(in_flight, 0) << "some steps are those of a READ";
  }
}

void Break(FakeFabric& fabric, const char* device) {
  for (const uint32_t pair : fabric.faults().QueuePairs(device)) {
    fabric.faults().BreakQueuePair(pair);
  }
}

TEST(RdmaPlacementTest, AllOfItLands) {
  const PlacementOutcome outcome = RunPlacement({}, 0);
  EXPECT_EQ(outcome.violation, "");
  EXPECT_EQ(outcome.landed, 4u * (48 << 10));
}

TEST(RdmaPlacementTest, NobodyWantsTheBytesAnyMore) { WantedBackAtEveryStep({}); }
TEST(RdmaPlacementTest, TheReceiverCloses) { WantedBackAtEveryStep({.receiver_closes = true}); }
TEST(RdmaPlacementTest, TheSenderCloses) { WantedBackAtEveryStep({.sender_closes = true}); }
TEST(RdmaPlacementTest, BothStop) {
  WantedBackAtEveryStep({.stops = true});
  WantedBackAtEveryStep({.stops = true, .flushes = false});
}

TEST(RdmaPlacementTest, TheQueuePairBreaks) {
  for (const char* const device : {"fakeA", "fakeB"}) {
    WantedBackAtEveryStep({.fault = [&](FakeFabric& fabric) { Break(fabric, device); }});
    WantedBackAtEveryStep({.fault = [&](FakeFabric& fabric) { Break(fabric, device); },
                           .receiver_closes = true,
                           .sender_closes = true,
                           .seed = 7});
  }
}

// Nothing completes: only the end of the queue pair says that no write comes.
TEST(RdmaPlacementTest, TheDeviceDoesNotFlush) {
  WantedBackAtEveryStep({.receiver_closes = true, .sender_closes = true, .flushes = false});
}

TEST(RdmaPlacementTest, TheDeviceIsRemoved) {
  for (const bool flush : {true, false}) {
    for (const char* const device : {"fakeA", "fakeB"}) {
      WantedBackAtEveryStep(
          {.fault = [=](FakeFabric& fabric) { fabric.faults().RemoveDevice(device, flush); }});
    }
  }
}

// Whoever is not answered ends by itself, in bounded time.
TEST(RdmaPlacementTest, ThePeerIsLost) {
  for (const auto cut : {FakeFaults::Cut::kReported, FakeFaults::Cut::kSilent}) {
    WantedBackAtEveryStep(
        {.fault = [=](FakeFabric& fabric) { fabric.faults().CutPath("fakeA", "fakeB", cut); },
         .sender_closes = true});
  }
}

}  // namespace
}  // namespace farcall
