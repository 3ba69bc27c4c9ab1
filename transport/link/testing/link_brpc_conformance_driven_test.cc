// SPDX-License-Identifier: Apache-2.0
//
// The conformance suite on brpc's wire, on loops with threads: ThreadSanitizer runs it, too.

#include "gtest/gtest.h"
#include "transport/link/testing/link_brpc_cases.h"
#include "transport/testing/conformance/connection_conformance.h"

namespace farcall {
namespace {

using Driven = BrpcRdmaHarness<DrivenRdmaHarness>;

INSTANTIATE_TEST_SUITE_P(BrpcDriven, ConnectionConformance,
                         testing::ValuesIn(BrpcCases<Driven>(FakeMode::kImmediate)),
                         ConformanceCaseName);

}  // namespace
}  // namespace farcall
