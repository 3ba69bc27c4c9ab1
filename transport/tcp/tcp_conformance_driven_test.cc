// SPDX-License-Identifier: Apache-2.0
//
// The conformance suite on loops with threads: ThreadSanitizer runs it, too.

#include "gtest/gtest.h"
#include "transport/tcp/testing/tcp_harness.h"
#include "transport/testing/conformance/connection_conformance.h"
#include "transport/testing/conformance/driven_harness.h"

namespace farcall {
namespace {

INSTANTIATE_TEST_SUITE_P(DrivenTcp, ConnectionConformance, testing::ValuesIn(ConformanceCases([] {
                           return TcpOn<DrivenHarness>("127.0.0.1:0");
                         })),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(DrivenUnix, ConnectionConformance, testing::ValuesIn(ConformanceCases([] {
                           return TcpOn<DrivenHarness>(NewUnixPath());
                         })),
                         ConformanceCaseName);

}  // namespace
}  // namespace farcall
