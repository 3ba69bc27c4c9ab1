// SPDX-License-Identifier: Apache-2.0
//
// The conformance suite on loops with threads: ThreadSanitizer runs it, too.

#include <memory>

#include "gtest/gtest.h"
#include "transport/tcp/testing/tcp_harness.h"
#include "transport/testing/conformance/connection_conformance.h"
#include "transport/testing/conformance/driven_harness.h"
#include "transport/tls/testing/tls_harness.h"

namespace farcall {
namespace {

std::unique_ptr<ConformanceHarness> OverDrivenTcp() {
  return std::make_unique<TlsHarness>(TcpOn<DrivenHarness>("127.0.0.1:0"));
}

INSTANTIATE_TEST_SUITE_P(DrivenTlsTcp, ConnectionConformance,
                         testing::ValuesIn(ConformanceCases(OverDrivenTcp)), ConformanceCaseName);

}  // namespace
}  // namespace farcall
