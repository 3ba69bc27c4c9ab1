// SPDX-License-Identifier: Apache-2.0
//
// Every fault of FakeFabric at every step of a connection's life. Whatever happens, it ends,
// within its time limits, and nothing is left: the fabric aborts on leaks and violations.

#include <cerrno>
#include <functional>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "transport/rdma/testing/echo_run.h"
#include "transport/rdma/testing/fake_rdma.h"

namespace farcall {
namespace {

using Harness = OverFake<SteppedRdmaHarness>;

void Small(FakeFabricOptions&, RdmaRigOptions& rig) {
  rig.loops = 2;
  rig.rdma.shared_receives = 32;
  rig.rdma.receive_slots = rig.rdma.send_slots = 8;
  rig.rdma.completion_queue_depth = 256;
  rig.pool.region_bytes = size_t{2} << 20;
}

void SmallWithoutShared(FakeFabricOptions& fabric, RdmaRigOptions& rig) {
  Small(fabric, rig);
  for (FakeDeviceOptions& device : fabric.devices) device.max_srq = 0;
}

using Fault = std::function<void(FakeFabric&)>;

struct Case {
  Fault fault;
  FakeRdma::Change change = Small;
  bool unheard = false;  // by the server
  bool harmless = false;
};

// Runs with the fault at step `at`; returns how many steps it took.
int RunWith(const Case& test, int at, std::string* outcome) {
  Harness harness(FakeMode::kStepped, test.change);
  int steps = 0;
  {
    EchoRun run(harness, test.unheard);
    const absl::Status status = run.Go([&](int step) {
      if (step == at) test.fault(harness.fabric());
    });
    *outcome = status.ToString();
    EXPECT_EQ(absl::StrJoin(run.Violations(), "\n"), "") << "step " << at << ": " << *outcome;
    steps = run.steps();
  }
  harness.End();
  EXPECT_EQ(harness.pool().stats().used_bytes, 0u) << "step " << at << ": " << *outcome;
  EXPECT_EQ(harness.fabric().counters("fakeA").rnrs, 0u);
  EXPECT_EQ(harness.fabric().counters("fakeB").rnrs, 0u);
  return steps;
}

// At every step of the run without it.
void AtEveryStep(const Case& test) {
  std::string outcome;
  const int steps = RunWith(test, 0, &outcome);
  ASSERT_EQ(outcome, "OK");
  int broken = 0;
  for (int at = 1; at <= steps && !testing::Test::HasFailure(); ++at) {
    RunWith(test, at, &outcome);
    if (outcome != "OK") ++broken;
  }
  EXPECT_EQ(broken == 0, test.harmless) << "the fault was one";
}

TEST(RdmaFaultTest, ASendFails) {
  AtEveryStep(
      {[](FakeFabric& fabric) { fabric.faults().FailSend("fakeA", 1, IBV_WC_REM_OP_ERR, 0x81); }});
}

TEST(RdmaFaultTest, ADeliveredSendFails) {
  AtEveryStep({[](FakeFabric& fabric) {
    fabric.faults().FailSend("fakeB", 1, IBV_WC_RETRY_EXC_ERR, 0, /*delivered=*/true);
  }});
}

void BreakAll(FakeFabric& fabric, const char* device) {
  for (const uint32_t pair : fabric.faults().QueuePairs(device)) {
    fabric.faults().BreakQueuePair(pair);
  }
}

TEST(RdmaFaultTest, AQueuePairBreaks) {
  AtEveryStep({[](FakeFabric& fabric) { BreakAll(fabric, "fakeA"); }});
  AtEveryStep({[](FakeFabric& fabric) { BreakAll(fabric, "fakeB"); }, SmallWithoutShared});
}

TEST(RdmaFaultTest, ThePathIsCut) {
  AtEveryStep({.fault =
                   [](FakeFabric& fabric) {
                     fabric.faults().CutPath("fakeA", "fakeB", FakeFaults::Cut::kReported);
                   },
               .unheard = true});
}

TEST(RdmaFaultTest, ThePortGoesDown) {
  AtEveryStep({[](FakeFabric& fabric) { fabric.faults().SetPort("fakeB", false); }});
}

TEST(RdmaFaultTest, TheDeviceOfTheServerIsRemoved) {
  for (const bool flush : {false, true}) {
    AtEveryStep({[flush](FakeFabric& fabric) { fabric.faults().RemoveDevice("fakeB", flush); }});
  }
}

TEST(RdmaFaultTest, TheDeviceOfTheClientIsRemoved) {
  for (const bool flush : {false, true}) {
    AtEveryStep({[flush](FakeFabric& fabric) { fabric.faults().RemoveDevice("fakeA", flush); },
                 SmallWithoutShared});
  }
}

TEST(RdmaFaultTest, TheConnectionManagerFails) {
  AtEveryStep({[](FakeFabric& fabric) { fabric.faults().RejectNextConnect(8); }});
  AtEveryStep({[](FakeFabric& fabric) { fabric.faults().LoseNextConnect(); }});
  AtEveryStep({[](FakeFabric& fabric) { fabric.faults().FailNextAddress(-EHOSTUNREACH); }});
  AtEveryStep({[](FakeFabric& fabric) { fabric.faults().FailNextRoute(-ENETUNREACH); }});
  AtEveryStep({.fault = [](FakeFabric& fabric) { fabric.faults().DelayConnectionEvents(40); },
               .harmless = true});
}

// Each call of verbs and rdma_cm in its turn.
void FailEachCall(const FakeRdma::Change& change) {
  uint64_t calls = 0;
  {
    Harness harness(FakeMode::kStepped, change);
    EchoRun run(harness);
    ASSERT_TRUE(run.Go([](int) {}).ok());
    calls = harness.fabric().faults().calls();
  }
  ASSERT_GT(calls, 40u);
  for (uint64_t call = 1; call <= calls && !testing::Test::HasFailure(); ++call) {
    Harness harness(FakeMode::kStepped, change);
    harness.fabric().faults().FailCallNumber(call, ENOMEM);
    EchoRun run(harness);
    const absl::Status status = run.Go([](int) {});
    EXPECT_EQ(absl::StrJoin(run.Violations(), "\n"), "")
        << "call " << call << ", " << harness.fabric().faults().last_failed_call() << ": "
        << status;
  }
}

TEST(RdmaFaultTest, EachCallFails) { FailEachCall(Small); }
TEST(RdmaFaultTest, EachCallFailsWithoutASharedQueue) { FailEachCall(SmallWithoutShared); }

}  // namespace
}  // namespace farcall
