// SPDX-License-Identifier: Apache-2.0
//
// Every fault of FakeFabric at every step of a connection's life. Whatever happens, it ends,
// within its time limits, and nothing is left: the fabric aborts on leaks and violations.

#include <cerrno>

#include "gtest/gtest.h"
#include "transport/rdma/rdma_fault_testing.h"

namespace farcall {
namespace {

TEST(RdmaFaultTest, ASendFails) {
  AtEveryStep(
      {[](FakeFabric& fabric) { fabric.faults().FailSend("fakeA", 1, IBV_WC_REM_OP_ERR, 0x81); }});
}

TEST(RdmaFaultTest, ADeliveredSendFails) {
  AtEveryStep({[](FakeFabric& fabric) {
    fabric.faults().FailSend("fakeB", 1, IBV_WC_RETRY_EXC_ERR, 0, /*delivered=*/true);
  }});
}

// Any work request: the messages, what binds and closes windows, what reads.
TEST(RdmaFaultTest, AWorkRequestFailsWithReferences) {
  for (const char* const device : {"fakeA", "fakeB"}) {
    AtEveryStep({[device](FakeFabric& fabric) {
                   fabric.faults().FailSend(device, 1, IBV_WC_REM_ACCESS_ERR, 0x88);
                 },
                 SmallRdmaWithReferences});
  }
}

void BreakAll(FakeFabric& fabric, const char* device) {
  for (const uint32_t pair : fabric.faults().QueuePairs(device)) {
    fabric.faults().BreakQueuePair(pair);
  }
}

TEST(RdmaFaultTest, AQueuePairBreaks) {
  AtEveryStep({[](FakeFabric& fabric) { BreakAll(fabric, "fakeA"); }});
  AtEveryStep({[](FakeFabric& fabric) { BreakAll(fabric, "fakeB"); }, SmallRdmaWithoutShared});
}

TEST(RdmaFaultTest, AQueuePairBreaksWithReferences) {
  AtEveryStep({[](FakeFabric& fabric) { BreakAll(fabric, "fakeA"); }, SmallRdmaWithReferences});
  AtEveryStep({[](FakeFabric& fabric) { BreakAll(fabric, "fakeB"); }, SmallRdmaWithReferences});
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
                 SmallRdmaWithoutShared});
  }
}

TEST(RdmaFaultTest, ADeviceIsRemovedWithReferences) {
  for (const char* const device : {"fakeA", "fakeB"}) {
    AtEveryStep(
        {[device](FakeFabric& fabric) { fabric.faults().RemoveDevice(device, /*flush=*/false); },
         SmallRdmaWithReferences});
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

}  // namespace
}  // namespace farcall
