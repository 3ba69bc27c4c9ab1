// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "transport/tcp/testing/tcp_harness.h"
#include "transport/testing/conformance/connection_conformance.h"
#include "transport/testing/conformance/stepped_harness.h"

namespace farcall {
namespace {

std::vector<ConformanceCase> Stepped(const std::string& address) {
  return ConformanceCases([address] { return TcpOn<SteppedHarness>(address); });
}

INSTANTIATE_TEST_SUITE_P(TcpIpv4, ConnectionConformance, testing::ValuesIn(Stepped("127.0.0.1:0")),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(TcpIpv6, ConnectionConformance, testing::ValuesIn(Stepped("[::1]:0")),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(Unix, ConnectionConformance, testing::ValuesIn(ConformanceCases([] {
                           return TcpOn<SteppedHarness>(NewUnixPath());
                         })),
                         ConformanceCaseName);

}  // namespace
}  // namespace farcall
