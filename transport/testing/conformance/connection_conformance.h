// SPDX-License-Identifier: Apache-2.0
//
// The conformance suite: every check of conformance_checks.h as a test, for each
// Transport that a test file names so:
//
//   INSTANTIATE_TEST_SUITE_P(TcpIpv4, ConnectionConformance,
//                            testing::ValuesIn(ConformanceCases([] { return ...; })),
//                            ConformanceCaseName);

#ifndef FARCALL_TRANSPORT_TESTING_CONFORMANCE_CONNECTION_CONFORMANCE_H_
#define FARCALL_TRANSPORT_TESTING_CONFORMANCE_CONNECTION_CONFORMANCE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "transport/testing/conformance/conformance_checks.h"
#include "transport/testing/conformance/conformance_harness.h"

namespace farcall {

using HarnessFactory = std::function<std::unique_ptr<ConformanceHarness>()>;

struct ConformanceCase {
  ConformanceCheck check;
  HarnessFactory make;
};

std::vector<ConformanceCase> ConformanceCases(const HarnessFactory& make);
std::string ConformanceCaseName(const testing::TestParamInfo<ConformanceCase>& info);
void PrintTo(const ConformanceCase& test_case, std::ostream* out);

class ConnectionConformance : public testing::TestWithParam<ConformanceCase> {};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TESTING_CONFORMANCE_CONNECTION_CONFORMANCE_H_
