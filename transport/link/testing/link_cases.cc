// SPDX-License-Identifier: Apache-2.0

#include "transport/link/testing/link_cases.h"

#include "absl/strings/string_view.h"

namespace farcall {

std::vector<ConformanceCase> LinkCases(const HarnessFactory& make) {
  std::vector<ConformanceCase> cases = ConformanceCases(make);
  std::erase_if(cases, [](const ConformanceCase& test_case) {
    const absl::string_view name = test_case.check.name;
    return name == "UnstartedConnectionsMayDie" || name == "InfoShowsEndsAndCounts";
  });
  return cases;
}

}  // namespace farcall
