// SPDX-License-Identifier: Apache-2.0
//
// From nodes to the resources of a device plugin.

#ifndef FARCALL_TOOLS_GEN_SELECTORS_PLAN_H_
#define FARCALL_TOOLS_GEN_SELECTORS_PLAN_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/gen_selectors/choose.h"
#include "tools/gen_selectors/rails.h"
#include "tools/node/inventory.h"

namespace farcall::selectors {

struct Resource {
  std::string name;  // "hca_shared_devices_a"
  Selectors selectors;
  std::vector<size_t> members;  // of Plan::judged
  // "": selectors without names of interfaces would do; else what the names keep out.
  std::string kept_out_by_name;
};

struct Plan {
  Plugin plugin = Plugin::kShared;
  std::vector<std::string> nodes;  // names
  std::vector<Judged> judged;      // one node after the other
  Rails rails;                     // also where there is one resource for all
  std::vector<Resource> resources;
  std::vector<std::string> warnings;
};

struct PlanOptions {
  Wish wish;
  bool per_rail = false;
  std::string name;  // of the one resource; before "_a", "_b", ... of rails
};

// Fills `plan` as far as it comes. Each resource's selectors select its members and nothing else on
// every node. kFailedPrecondition: nothing is chosen, or no selectors do that, and the cure.
absl::Status MakePlan(const PlanOptions& options, const std::vector<node::Inventory>& nodes,
                      Plan& plan);

}  // namespace farcall::selectors

#endif  // FARCALL_TOOLS_GEN_SELECTORS_PLAN_H_
