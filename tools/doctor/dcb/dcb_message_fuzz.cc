// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the kernel's answer. What must hold: nothing is read outside of them, and what is
// taken lies within its bounds, as the checks index by it.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/strings/string_view.h"
#include "tools/doctor/dcb/dcb_message.h"
#include "transport/base/check.h"

namespace farcall::doctor {
namespace {

void LookAt(absl::string_view bytes) {
  // The corpus has this number; a mutation may change it.
  const absl::StatusOr<Dcb> dcb = ParseDcbAnswer(bytes, 1);
  if (!dcb.ok()) {
    Check(!dcb.status().message().empty(), "an error says what is wrong");
    return;
  }
  for (const auto& [dscp, priority] : dcb->priority_of_dscp) {
    Check(dscp < 64 && priority < kPriorities, "an entry is within bounds");
  }
  if (dcb->ets.has_value()) {
    for (const uint8_t each : dcb->ets->class_of) Check(each < kPriorities, "a class is one of 8");
  }
  Check(dcb->default_priority.value_or(0) < kPriorities, "the default priority is one of 8");
  Check(dcb->roce_priority.value_or(0) < kPriorities, "RoCE's priority is one of 8");
}

}  // namespace
}  // namespace farcall::doctor

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // An allocation of its own, so that a byte beyond it is seen.
  const std::vector<char> bytes(data, data + size);
  farcall::doctor::LookAt(absl::string_view(bytes.data(), bytes.size()));
  return 0;
}
