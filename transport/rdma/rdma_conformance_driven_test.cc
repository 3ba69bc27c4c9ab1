// SPDX-License-Identifier: Apache-2.0
//
// The conformance suite on loops with threads: ThreadSanitizer runs it, too.

#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "transport/rdma/testing/fake_rdma.h"
#include "transport/testing/conformance/connection_conformance.h"

namespace farcall {
namespace {

std::vector<ConformanceCase> Driven(FakeMode mode, const FakeRdma::Change& change = nullptr) {
  return ConformanceCases(
      [=] { return std::make_unique<OverFake<DrivenRdmaHarness>>(mode, change, /*ipv6=*/false); });
}

void References(FakeFabricOptions&, RdmaRigOptions& rig) { rig.rdma.read_at_least = 4 << 10; }

INSTANTIATE_TEST_SUITE_P(Driven, ConnectionConformance,
                         testing::ValuesIn(Driven(FakeMode::kImmediate)), ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(DrivenReferences, ConnectionConformance,
                         testing::ValuesIn(Driven(FakeMode::kImmediate, References)),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(DrivenStepped, ConnectionConformance,
                         testing::ValuesIn(Driven(FakeMode::kStepped)), ConformanceCaseName);

}  // namespace
}  // namespace farcall
