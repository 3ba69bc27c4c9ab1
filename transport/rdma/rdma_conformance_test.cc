// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "transport/rdma/testing/fake_rdma.h"
#include "transport/testing/conformance/connection_conformance.h"

namespace farcall {
namespace {

using Change = FakeRdma::Change;

std::vector<ConformanceCase> Stepped(const Change& change = nullptr, bool ipv6 = false) {
  return ConformanceCases([=] {
    return std::make_unique<OverFake<SteppedRdmaHarness>>(FakeMode::kStepped, change, ipv6);
  });
}

void NoSharedQueue(FakeFabricOptions& fabric, RdmaRigOptions&) {
  for (FakeDeviceOptions& device : fabric.devices) device.max_srq = 0;
}

void Iwarp(FakeFabricOptions& fabric, RdmaRigOptions&) {
  for (FakeDeviceOptions& device : fabric.devices) {
    device.link = FakeLink::kIwarp;
    device.max_inline_data = 96;
    device.max_sge = 6;
  }
}

void TinyWindows(FakeFabricOptions&, RdmaRigOptions& rig) {
  rig.rdma.send_slots = rig.rdma.receive_slots = kMinSlots;
  rig.rdma.shared_receives = 256;
  rig.rdma.max_inline = 0;
  rig.rdma.max_send_segments = 2;
}

// A shared queue that hardly serves its connections, and no memory for more.
void FewReceives(FakeFabricOptions&, RdmaRigOptions& rig) {
  rig.rdma.shared_receives = 160;
  rig.rdma.receive_slots = 16;
  rig.pool.max_bytes = size_t{96} << 20;
}

void References(FakeFabricOptions&, RdmaRigOptions& rig) { rig.rdma.read_at_least = 4 << 10; }

// Few of everything: the rest is sent.
void FewReferences(FakeFabricOptions& fabric, RdmaRigOptions& rig) {
  TinyWindows(fabric, rig);
  rig.rdma.read_at_least = 4 << 10;
  rig.rdma.read_window = 2;
  for (FakeDeviceOptions& device : fabric.devices) device.max_qp_init_rd_atom = 1;
}

// One end would, the other cannot.
void ReferencesAtOneEnd(FakeFabricOptions& fabric, RdmaRigOptions& rig) {
  References(fabric, rig);
  fabric.devices[1].max_mw = 0;
}

void SoftRoce(FakeFabricOptions& fabric, RdmaRigOptions& rig) {
  References(fabric, rig);
  for (FakeDeviceOptions& device : fabric.devices) PlaySoftRoce(device);
}

void InfiniBand(FakeFabricOptions& fabric, RdmaRigOptions&) {
  for (FakeDeviceOptions& device : fabric.devices) device.link = FakeLink::kInfiniBand;
}

INSTANTIATE_TEST_SUITE_P(Roce, ConnectionConformance, ::testing::ValuesIn(Stepped()),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(NoSharedQueue, ConnectionConformance,
                         ::testing::ValuesIn(Stepped(NoSharedQueue)), ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(Iwarp, ConnectionConformance, ::testing::ValuesIn(Stepped(Iwarp)),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(TinyWindows, ConnectionConformance,
                         ::testing::ValuesIn(Stepped(TinyWindows)), ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(FewReceives, ConnectionConformance,
                         ::testing::ValuesIn(Stepped(FewReceives)), ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(InfiniBandIpv6, ConnectionConformance,
                         ::testing::ValuesIn(Stepped(InfiniBand, /*ipv6=*/true)),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(References, ConnectionConformance,
                         ::testing::ValuesIn(Stepped(References)), ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(FewReferences, ConnectionConformance,
                         ::testing::ValuesIn(Stepped(FewReferences)), ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(ReferencesAtOneEnd, ConnectionConformance,
                         ::testing::ValuesIn(Stepped(ReferencesAtOneEnd)), ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(SoftRoce, ConnectionConformance, ::testing::ValuesIn(Stepped(SoftRoce)),
                         ConformanceCaseName);

}  // namespace
}  // namespace farcall
