// SPDX-License-Identifier: Apache-2.0

#include "transport/testing/conformance/connection_conformance.h"

#include <ostream>

namespace farcall {

std::vector<ConformanceCase> ConformanceCases(const HarnessFactory& make) {
  std::vector<ConformanceCase> cases;
  for (const ConformanceCheck& check : ConformanceChecks()) cases.push_back({check, make});
  return cases;
}

std::string ConformanceCaseName(const testing::TestParamInfo<ConformanceCase>& info) {
  return info.param.check.name;
}

void PrintTo(const ConformanceCase& test_case, std::ostream* out) { *out << test_case.check.name; }

TEST_P(ConnectionConformance, Holds) {
  const auto harness = GetParam().make();
  const absl::Status status = RunCheck(GetParam().check, *harness);
  EXPECT_TRUE(status.ok()) << status.message();
}

}  // namespace farcall
