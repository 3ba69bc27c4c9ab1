// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_DOCTOR_REPORT_TEXT_H_
#define FARCALL_TOOLS_DOCTOR_REPORT_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "tools/doctor/diagnose.h"

namespace farcall::doctor {

// For people: the summary, the checks, the GID table, the peer's table, and what to do next.
// Without `all`, findings that are ok or unknown are one line each, without what they mean.
std::string ToText(const Report& report, bool all);

// For programs: one JSON object, whose members docs/doctor.md lists. `inventory`: JSON.
std::string ToJson(const Report& report, const std::string& inventory);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_REPORT_TEXT_H_
