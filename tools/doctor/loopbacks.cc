// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/loopbacks.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace farcall::doctor {

std::vector<LoopbackFacts> PingEach(const std::vector<std::string>& devices,
                                    const LoopbackPlan& plan) {
  const TimePoint deadline = plan.now() + plan.limit;
  bool failed = false;
  std::vector<LoopbackFacts> all;
  for (const std::string& device : devices) {
    LoopbackFacts facts;
    facts.device = device;
    facts.tried = false;
    if (all.size() >= plan.most) {
      facts.detail = absl::StrCat("only the first ", plan.most, " devices are");
    } else if (plan.now() >= deadline) {
      facts.detail = "time was up";
    } else {
      facts = plan.ping(device);
      for (int more = failed ? 0 : plan.tries - 1; more > 0; --more) {
        if (!plan.may_pass(facts.reason) || plan.now() >= deadline) break;
        facts = plan.ping(device);
      }
      failed = failed || facts.reason != "in_use";
    }
    all.push_back(std::move(facts));
  }
  return all;
}

}  // namespace farcall::doctor
