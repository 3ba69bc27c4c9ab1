// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_DOCTOR_LOOPBACKS_H_
#define FARCALL_TOOLS_DOCTOR_LOOPBACKS_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tools/doctor/checks/facts.h"
#include "transport/base/time.h"

namespace farcall::doctor {

struct LoopbackPlan {
  // For all devices: no try begins after it.
  Duration limit = std::chrono::seconds(30);
  size_t most = 16;  // devices: as many rails as hosts have
  int tries = 3;     // of the first that fails; others fail by the same cause, most likely
  std::function<TimePoint()> now;
  std::function<LoopbackFacts(const std::string& device)> ping;
  std::function<bool(absl::string_view reason)> may_pass;  // when it is tried again
};

// One of each device, in their order; those that time or `most` did not allow are not tried.
std::vector<LoopbackFacts> PingEach(const std::vector<std::string>& devices,
                                    const LoopbackPlan& plan);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_LOOPBACKS_H_
