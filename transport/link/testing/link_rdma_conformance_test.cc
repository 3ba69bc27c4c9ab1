// SPDX-License-Identifier: Apache-2.0
//
// The conformance suite for links over real TCP and the real RDMA code, on a FakeFabric.

#include <cstdint>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "transport/link/testing/link_cases.h"
#include "transport/link/testing/link_rdma_testing.h"
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

template <typename Harness>
std::vector<ConformanceCase> Cases(FakeMode mode, bool require,
                                   const FakeRdma::Change& change = nullptr, uint32_t rails = 1) {
  // Where RDMA is required, no peer has sent a request yet that would make it trusted.
  const auto room_for_untrusted = [change](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
    rig.rdma.max_shared_receives = 512;
    // The third one is cut off.
    rig.rdma.devices = {"fakeA", "fakeB"};
    if (change) change(fabric, rig);
  };
  return LinkCases([=] {
    return std::make_unique<Harness>(LinkRdmaOptions(require, rails), mode, room_for_untrusted);
  });
}

INSTANTIATE_TEST_SUITE_P(Upgrading, ConnectionConformance,
                         testing::ValuesIn(Cases<SteppedLink>(FakeMode::kStepped, false)),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(Required, ConnectionConformance,
                         testing::ValuesIn(Cases<SteppedLink>(FakeMode::kStepped, true)),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(Iwarp, ConnectionConformance,
                         testing::ValuesIn(Cases<SteppedLink>(FakeMode::kStepped, true, Iwarp)),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(References, ConnectionConformance,
                         testing::ValuesIn(Cases<SteppedLink>(FakeMode::kStepped, true,
                                                              LinkWithReferences)),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(OverTcp, ConnectionConformance,
                         testing::ValuesIn(Cases<SteppedLink>(FakeMode::kStepped, true,
                                                              LinkSetUpOverTcp)),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(InfiniBandOverTcp, ConnectionConformance,
                         testing::ValuesIn(Cases<SteppedLink>(FakeMode::kStepped, true,
                                                              InfiniBandOverTcp)),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(DrivenOverTcp, ConnectionConformance,
                         testing::ValuesIn(Cases<DrivenLink>(FakeMode::kImmediate, true,
                                                             LinkSetUpOverTcp)),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(DrivenUpgrading, ConnectionConformance,
                         testing::ValuesIn(Cases<DrivenLink>(FakeMode::kImmediate, false)),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(DrivenRequired, ConnectionConformance,
                         testing::ValuesIn(Cases<DrivenLink>(FakeMode::kImmediate, true)),
                         ConformanceCaseName);

INSTANTIATE_TEST_SUITE_P(Rails, ConnectionConformance,
                         testing::ValuesIn(Cases<SteppedLink>(FakeMode::kStepped, true, nullptr,
                                                              2)),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(RailsWithReferences, ConnectionConformance,
                         testing::ValuesIn(Cases<SteppedLink>(FakeMode::kStepped, true,
                                                              LinkWithReferences, 2)),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(RailsOverTcp, ConnectionConformance,
                         testing::ValuesIn(Cases<SteppedLink>(FakeMode::kStepped, true,
                                                              LinkSetUpOverTcp, 2)),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(DrivenRails, ConnectionConformance,
                         testing::ValuesIn(Cases<DrivenLink>(FakeMode::kImmediate, false,
                                                             LinkWithReferences, 2)),
                         ConformanceCaseName);

}  // namespace
}  // namespace farcall
