// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/testing/fault_run.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "transport/rdma/testing/echo_run.h"
#include "transport/rdma/testing/stepped_clock.h"

namespace farcall {
namespace {

// What a step takes: a few of them make no time-out pass.
constexpr Duration kStep = std::chrono::microseconds(200);

}  // namespace

void SmallRdma(FakeFabricOptions&, RdmaRigOptions& rig) {
  rig.loops = 2;
  rig.rdma.shared_receives = 32;
  rig.rdma.receive_slots = rig.rdma.send_slots = 8;
  rig.rdma.completion_queue_depth = 256;
  rig.pool.region_bytes = size_t{2} << 20;
}

void SmallRdmaWithoutShared(FakeFabricOptions& fabric, RdmaRigOptions& rig) {
  SmallRdma(fabric, rig);
  for (FakeDeviceOptions& device : fabric.devices) device.max_srq = 0;
}

void SmallIwarp(FakeFabricOptions& fabric, RdmaRigOptions& rig) {
  SmallRdma(fabric, rig);
  for (FakeDeviceOptions& device : fabric.devices) {
    device.link = FakeLink::kIwarp;
    device.max_inline_data = 96;
    device.max_sge = 6;
  }
}

void SmallRdmaWithReferences(FakeFabricOptions& fabric, RdmaRigOptions& rig) {
  SmallRdma(fabric, rig);
  rig.rdma.read_at_least = 4 << 10;
  rig.rdma.read_window = 3;
}

FaultOutcome RunWithFault(const FaultCase& test, int at) {
  SteppedClock clock;
  const auto change = [&](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
    if (test.change) test.change(fabric, rig);
    rig.clock = &clock;
  };
  OverFake<SteppedRdmaHarness> harness(FakeMode::kStepped, change);
  FakeFabric& fabric = harness.fabric();
  fabric.faults().RecordCalls();
  if (at == 0 && test.fault) test.fault(fabric);
  FaultOutcome outcome;
  std::vector<std::string> violations;
  {
    EchoRun run(harness, clock, test.unheard);
    outcome.status = run.Go([&](int step) {
      clock.AdvanceTo(clock.Now() + kStep);
      if (step == at && test.fault) test.fault(fabric);
    });
    outcome.trace = run.Trace();
    violations = run.Violations();
    outcome.steps = run.steps();
  }
  outcome.calls = fabric.faults().recorded_calls();
  clock.SetRunning(true);
  harness.End();
  absl::StrAppend(&outcome.trace, outcome.status.message(), "\n",
                  absl::StrJoin(harness.rig().log(), "\n"));
  outcome.failed_call = fabric.faults().last_failed_call();
  for (const char* const device : {"fakeA", "fakeB"}) {
    const FakeCounters counters = fabric.counters(device);
    outcome.sends += counters.sends_posted;
    outcome.receives += counters.messages_in;
    if (counters.rnrs > 0) violations.push_back(absl::StrCat(device, ": no receive was ready"));
  }
  if (const size_t used = harness.pool().stats().used_bytes; used > 0) {
    violations.push_back(absl::StrCat(used, " bytes of blocks did not come home"));
  }
  outcome.violation = absl::StrJoin(violations, "\n");
  return outcome;
}

FaultOutcome RunWithoutFault(const FakeRdma::Change& change) {
  return RunWithFault({.fault = nullptr, .change = change}, 0);
}

}  // namespace farcall
