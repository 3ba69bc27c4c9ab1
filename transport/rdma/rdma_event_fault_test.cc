// SPDX-License-Identifier: Apache-2.0
//
// Each event of rdma_cm and of a device at each step of a connection's life, also those that
// have no business there.

#include <cerrno>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "transport/rdma/rdma_fault_testing.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

enum class Harms { kNobody, kDialling, kAny };

struct CmCase {
  rdma_cm_event_type type;
  int status;
  Harms harms = Harms::kNobody;
};

class RdmaCmEventFaultTest : public ::testing::TestWithParam<CmCase> {};

TEST_P(RdmaCmEventFaultTest, ComesAtEachStep) {
  for (const char* const device : {"fakeA", "fakeB"}) {
    SCOPED_TRACE(device);
    const bool dials = device == std::string("fakeA");
    FaultCase test;
    test.fault = [=](FakeFabric& fabric) {
      fabric.faults().InjectEvent(device, GetParam().type, GetParam().status);
    };
    test.harmless =
        GetParam().harms == Harms::kNobody || (GetParam().harms == Harms::kDialling && !dials);
    AtEveryStep(test);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, RdmaCmEventFaultTest,
    ::testing::Values(CmCase{RDMA_CM_EVENT_ADDR_RESOLVED, 0, Harms::kDialling},
                      CmCase{RDMA_CM_EVENT_ADDR_ERROR, -EHOSTUNREACH, Harms::kDialling},
                      CmCase{RDMA_CM_EVENT_ROUTE_RESOLVED, 0, Harms::kDialling},
                      CmCase{RDMA_CM_EVENT_ROUTE_ERROR, -ENETUNREACH, Harms::kDialling},
                      CmCase{RDMA_CM_EVENT_CONNECT_ERROR, -1, Harms::kAny},
                      CmCase{RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, Harms::kAny},
                      CmCase{RDMA_CM_EVENT_REJECTED, 28, Harms::kAny},
                      CmCase{RDMA_CM_EVENT_ESTABLISHED, 0, Harms::kDialling},
                      CmCase{RDMA_CM_EVENT_DISCONNECTED, 0, Harms::kAny},
                      CmCase{RDMA_CM_EVENT_CONNECT_RESPONSE, 0, Harms::kNobody},
                      CmCase{RDMA_CM_EVENT_MULTICAST_JOIN, 0, Harms::kNobody},
                      CmCase{RDMA_CM_EVENT_MULTICAST_ERROR, -EIO, Harms::kNobody},
                      CmCase{RDMA_CM_EVENT_ADDR_CHANGE, 0, Harms::kNobody},
                      CmCase{RDMA_CM_EVENT_TIMEWAIT_EXIT, 0, Harms::kNobody}),
    [](const auto& one) { return "Type" + std::to_string(one.param.type); });

// Of a dial that it ends first, in the words that people know.
TEST(RdmaCmEventsFaultTest, TheDialTellsWhichOneEndedIt) {
  const std::pair<CmCase, WhyNotRdma> cases[] = {
      {{RDMA_CM_EVENT_ADDR_ERROR, -EHOSTUNREACH}, WhyNotRdma::kUnreachable},
      {{RDMA_CM_EVENT_ROUTE_ERROR, -ENETUNREACH}, WhyNotRdma::kUnreachable},
      {{RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT}, WhyNotRdma::kUnreachable},
      {{RDMA_CM_EVENT_REJECTED, 28}, WhyNotRdma::kRejected},
      {{RDMA_CM_EVENT_ESTABLISHED, 0}, WhyNotRdma::kRejected},  // without our data
      {{RDMA_CM_EVENT_CONNECT_ERROR, -1}, WhyNotRdma::kBroken},
      {{RDMA_CM_EVENT_DISCONNECTED, 0}, WhyNotRdma::kBroken},
      {{RDMA_CM_EVENT_ADDR_RESOLVED, 0}, WhyNotRdma::kBroken},  // out of its turn
  };
  for (const auto& [event, why] : cases) {
    SCOPED_TRACE(event.type);
    absl::Status status;
    for (int at = 1; at <= 20 && status.ok(); ++at) {
      status = RunWithFault({[event = event](FakeFabric& fabric) {
                              fabric.faults().InjectEvent("fakeA", event.type, event.status);
                            }},
                            at)
                   .status;
    }
    EXPECT_EQ(ReasonOf(status), why) << status;
  }
}

TEST(RdmaCmEventsFaultTest, TheEndComesTwice) {
  for (const char* const device : {"fakeA", "fakeB"}) {
    AtEveryStep({[=](FakeFabric& fabric) {
      for (int i = 0; i < 2; ++i) {
        fabric.faults().InjectEvent(device, RDMA_CM_EVENT_DISCONNECTED, 0);
      }
      fabric.faults().InjectEvent(device, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
    }});
  }
}

TEST(RdmaCmEventsFaultTest, TheEndComesBeforeTheRemoval) {
  for (const char* const device : {"fakeA", "fakeB"}) {
    AtEveryStep({[=](FakeFabric& fabric) {
      fabric.faults().InjectEvent(device, RDMA_CM_EVENT_DISCONNECTED, 0);
      fabric.faults().RemoveDevice(device, /*flush=*/false);
    }});
  }
}

struct AsyncCase {
  ibv_event_type type;
  bool harmless;
};

class RdmaAsyncEventFaultTest : public ::testing::TestWithParam<AsyncCase> {};

TEST_P(RdmaAsyncEventFaultTest, ComesAtEachStep) {
  for (const char* const device : {"fakeA", "fakeB"}) {
    SCOPED_TRACE(device);
    FaultCase test;
    test.fault = [=](FakeFabric& fabric) { fabric.faults().RaiseEvent(device, GetParam().type); };
    test.harmless = GetParam().harmless;
    AtEveryStep(test);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, RdmaAsyncEventFaultTest,
    ::testing::Values(
        AsyncCase{IBV_EVENT_CQ_ERR, false}, AsyncCase{IBV_EVENT_QP_FATAL, false},
        AsyncCase{IBV_EVENT_QP_REQ_ERR, false}, AsyncCase{IBV_EVENT_QP_ACCESS_ERR, false},
        AsyncCase{IBV_EVENT_COMM_EST, true}, AsyncCase{IBV_EVENT_SQ_DRAINED, true},
        AsyncCase{IBV_EVENT_PATH_MIG, true}, AsyncCase{IBV_EVENT_PATH_MIG_ERR, true},
        AsyncCase{IBV_EVENT_DEVICE_FATAL, false}, AsyncCase{IBV_EVENT_PORT_ACTIVE, true},
        AsyncCase{IBV_EVENT_PORT_ERR, false}, AsyncCase{IBV_EVENT_LID_CHANGE, true},
        AsyncCase{IBV_EVENT_PKEY_CHANGE, true}, AsyncCase{IBV_EVENT_SM_CHANGE, true},
        AsyncCase{IBV_EVENT_SRQ_ERR, false}, AsyncCase{IBV_EVENT_SRQ_LIMIT_REACHED, true},
        AsyncCase{IBV_EVENT_CLIENT_REREGISTER, true}, AsyncCase{IBV_EVENT_GID_CHANGE, true}),
    [](const auto& one) { return "Type" + std::to_string(one.param.type); });

}  // namespace
}  // namespace farcall
