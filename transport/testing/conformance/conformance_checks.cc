// SPDX-License-Identifier: Apache-2.0

#include "transport/testing/conformance/conformance_checks.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace farcall {

std::vector<ConformanceCheck> ConformanceChecks() {
  std::vector<ConformanceCheck> all;
  for (const auto& some : {ByteChecks(), FlowChecks(), PlacementChecks(), CloseChecks(),
                           EndingChecks(), ConnectChecks(), ListenChecks()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

absl::Status RunCheck(const ConformanceCheck& check, ConformanceHarness& harness) {
  ConformanceRun run(harness);
  check.run(run);
  harness.End();
  run.Until("every block comes home", [&] { return harness.pool().stats().used_bytes == 0; });
  if (run.violations().empty()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(check.name, ", seed ", harness.seed(), ":\n  ",
                                          absl::StrJoin(run.violations(), "\n  ")));
}

}  // namespace farcall
