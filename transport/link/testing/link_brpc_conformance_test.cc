// SPDX-License-Identifier: Apache-2.0
//
// The conformance suite over connections on brpc's wire, both ends of which are this library's.

#include "gtest/gtest.h"
#include "transport/link/testing/link_brpc_cases.h"
#include "transport/testing/conformance/connection_conformance.h"

namespace farcall {
namespace {

using Stepped = BrpcRdmaHarness<SteppedRdmaHarness>;

// The least that brpc allows.
void SmallQueues(FakeFabricOptions&, RdmaRigOptions& rig) {
  rig.rdma.send_slots = rig.rdma.receive_slots = 16;
}

INSTANTIATE_TEST_SUITE_P(BrpcStepped, ConnectionConformance,
                         testing::ValuesIn(BrpcCases<Stepped>(FakeMode::kStepped)),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(BrpcSmallQueues, ConnectionConformance,
                         testing::ValuesIn(BrpcCases<Stepped>(FakeMode::kStepped, SmallQueues)),
                         ConformanceCaseName);

}  // namespace
}  // namespace farcall
