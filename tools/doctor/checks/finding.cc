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

}  // namespace farcall::doctor
