// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_GEN_SELECTORS_CONFIG_MAP_H_
#define FARCALL_TOOLS_GEN_SELECTORS_CONFIG_MAP_H_

#include <string>

#include "tools/gen_selectors/plan.h"

namespace farcall::selectors {

struct ConfigMapOptions {
  std::string name;  // of the ConfigMap
  std::string name_space;
  std::string prefix;  // of the resources
  int hca_max = 0;     // slots of each resource; kShared only
};

// YAML for kubectl apply: comments that say what each resource selects and what was left out, and
// the plugin's JSON, which can have no comments.
std::string ConfigMap(const ConfigMapOptions& options, const Plan& plan);

}  // namespace farcall::selectors

#endif  // FARCALL_TOOLS_GEN_SELECTORS_CONFIG_MAP_H_
