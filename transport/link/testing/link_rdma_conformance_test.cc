// SPDX-License-Identifier: Apache-2.0
//
// The conformance suite for links over real TCP and the real RDMA code, on a FakeFabric.

#include "gtest/gtest.h"
#include "transport/link/testing/link_rdma_cases.h"
#include "transport/testing/conformance/connection_conformance.h"

namespace farcall {
namespace {

void Iwarp(FakeFabricOptions& fabric, RdmaRigOptions&) {
  for (FakeDeviceOptions& device : fabric.devices) {
    device.link = FakeLink::kIwarp;
    device.max_inline_data = 96;
    device.max_sge = 6;
  }
}

void InfiniBandOverTcp(FakeFabricOptions& fabric, RdmaRigOptions& rig) {
  LinkSetUpOverTcp(fabric, rig);
  for (FakeDeviceOptions& device : fabric.devices) device.link = FakeLink::kInfiniBand;
}

INSTANTIATE_TEST_SUITE_P(Upgrading, ConnectionConformance,
                         testing::ValuesIn(LinkRdmaCases<SteppedLink>(FakeMode::kStepped, false)),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(Required, ConnectionConformance,
                         testing::ValuesIn(LinkRdmaCases<SteppedLink>(FakeMode::kStepped, true)),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(Iwarp, ConnectionConformance,
                         testing::ValuesIn(LinkRdmaCases<SteppedLink>(FakeMode::kStepped, true,
                                                                      Iwarp)),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(References, ConnectionConformance,
                         testing::ValuesIn(LinkRdmaCases<SteppedLink>(FakeMode::kStepped, true,
                                                                      LinkWithReferences)),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(OverTcp, ConnectionConformance,
                         testing::ValuesIn(LinkRdmaCases<SteppedLink>(FakeMode::kStepped, true,
                                                                      LinkSetUpOverTcp)),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(InfiniBandOverTcp, ConnectionConformance,
                         testing::ValuesIn(LinkRdmaCases<SteppedLink>(FakeMode::kStepped, true,
                                                                      InfiniBandOverTcp)),
                         ConformanceCaseName);

INSTANTIATE_TEST_SUITE_P(Rails, ConnectionConformance,
                         testing::ValuesIn(LinkRdmaCases<SteppedLink>(FakeMode::kStepped, true,
                                                                      nullptr, 2)),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(RailsWithReferences, ConnectionConformance,
                         testing::ValuesIn(LinkRdmaCases<SteppedLink>(FakeMode::kStepped, true,
                                                                      LinkWithReferences, 2)),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(RailsOverTcp, ConnectionConformance,
                         testing::ValuesIn(LinkRdmaCases<SteppedLink>(FakeMode::kStepped, true,
                                                                      LinkSetUpOverTcp, 2)),
                         ConformanceCaseName);

}  // namespace
}  // namespace farcall
