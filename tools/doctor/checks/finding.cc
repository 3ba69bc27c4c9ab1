// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/checks/finding.h"

namespace farcall::doctor {

absl::string_view Name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return "ok";
    case Verdict::kUnknown:
      return "unknown";
    case Verdict::kDegraded:
      return "degraded";
    case Verdict::kFailed:
      break;
  }
  return "failed";
}

absl::string_view StatusOf(ExitCode code) {
  if (code == kReady) return "ready";
  return code == kDegraded ? "degraded" : "no_rdma";
}

}  // namespace farcall::doctor
