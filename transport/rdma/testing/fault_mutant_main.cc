// SPDX-License-Identifier: Apache-2.0
//
// Passes if the suites of faults find something wrong with the code it is linked with.

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <string>

#include "absl/strings/match.h"
#include "transport/rdma/testing/fault_run.h"
#include "transport/rdma/testing/placement_run.h"

namespace farcall {
namespace {

// A Check that does not hold, the fabric's among them, is as good a way of being found out.
void CaughtByCheck(int) { _exit(0); }

// What is wrong with a run; "": nothing. `why`: the reason that an end that broke must get.
std::string WrongWith(const FaultOutcome& outcome, const std::string& why) {
  if (!outcome.violation.empty() || outcome.status.ok()) return outcome.violation;
  return absl::StrContains(outcome.trace, why) ? "" : "not trace: " + why;
}

std::string InAnyOrder() {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const FaultOutcome outcome =
        RunWithoutFault([&](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
          SmallRdma(fabric, rig);
          fabric.seed = seed;
          fabric.shuffle_completions = true;
        });
    if (!outcome.status.ok()) return "an echo stopped";
    if (!outcome.violation.empty()) return outcome.violation;
  }
  return "";
}

std::string WithFailedMessages() {
  for (int nth = 1; nth <= 12; ++nth) {
    for (const char* const device : {"fakeA", "fakeB"}) {
      for (const bool receives : {false, true}) {
        FaultCase test;
        test.fault = [&](FakeFabric& fabric) {
          if (receives) fabric.faults().FailReceive(device, nth, IBV_WC_LOC_LEN_ERR);
          if (!receives) fabric.faults().FailSend(device, nth, IBV_WC_LOC_LEN_ERR, 0x81);
        };
        const std::string wrong = WrongWith(RunWithFault(test, 0), "local length error");
        if (!wrong.empty()) return wrong;
      }
    }
  }
  return "";
}

std::string WithFailedCalls() {
  for (const char* const call :
       {"rdma_resolve_addr", "rdma_connect", "rdma_accept", "ibv_create_cq"}) {
    FaultCase test;
    test.fault = [&](FakeFabric& fabric) { fabric.faults().FailCall(call, 1, EPERM); };
    const std::string wrong = WrongWith(RunWithFault(test, 0), call);
    if (!wrong.empty()) return wrong;
  }
  FaultCase test;
  test.fault = [](FakeFabric& fabric) { fabric.faults().FailCall("rdma_establish", 1, EPERM); };
  return WrongWith(RunWithFault(test, 0), "RDMA_CM_EVENT_CONNECT_ERROR");
}

std::string WithPlacement() {
  const auto breaks = [](FakeFabric& fabric) {
    for (const uint32_t pair : fabric.faults().QueuePairs("fakeB")) {
      fabric.faults().BreakQueuePair(pair);
    }
  };
  const PlacementCase cases[] = {
      {},
      {.receiver_closes = true},
      {.fault = breaks},
      {.receiver_closes = true, .sender_closes = true, .flushes = false}};
  for (const PlacementCase& test : cases) {
    const int steps = RunPlacement(test, 0).steps;
    for (int at = 0; at <= steps; ++at) {
      const PlacementOutcome outcome = RunPlacement(test, at);
      if (!outcome.violation.empty()) return outcome.violation;
    }
  }
  return "";
}

}  // namespace
}  // namespace farcall

int main() {
  std::signal(SIGABRT, farcall::CaughtByCheck);
  for (std::string (*look)() : {farcall::WithFailedCalls, farcall::WithFailedMessages,
                                farcall::InAnyOrder, farcall::WithPlacement}) {
    const std::string wrong = look();
    if (wrong.empty()) continue;
    printf("found: %s\n", wrong.c_str());
    return 0;
  }
  printf("nothing was found\n");
  return 1;
}
