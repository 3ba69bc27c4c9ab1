// SPDX-License-Identifier: Apache-2.0
//
// The conformance suite for links over the real RDMA code, on loops with threads: ThreadSanitizer
// runs it, too.

#include "gtest/gtest.h"
#include "transport/link/testing/link_rdma_cases.h"
#include "transport/testing/conformance/connection_conformance.h"

namespace farcall {
namespace {

INSTANTIATE_TEST_SUITE_P(DrivenOverTcp, ConnectionConformance,
                         testing::ValuesIn(LinkRdmaCases<DrivenLink>(FakeMode::kImmediate, true,
                                                                     LinkSetUpOverTcp)),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(DrivenUpgrading, ConnectionConformance,
                         testing::ValuesIn(LinkRdmaCases<DrivenLink>(FakeMode::kImmediate, false)),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(DrivenRequired, ConnectionConformance,
                         testing::ValuesIn(LinkRdmaCases<DrivenLink>(FakeMode::kImmediate, true)),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(DrivenRails, ConnectionConformance,
                         testing::ValuesIn(LinkRdmaCases<DrivenLink>(FakeMode::kImmediate, false,
                                                                     LinkWithReferences, 2)),
                         ConformanceCaseName);

}  // namespace
}  // namespace farcall
