// SPDX-License-Identifier: Apache-2.0
//
// Selectors as the device plugins know them, and what they select.

#ifndef FARCALL_TOOLS_GEN_SELECTORS_SELECTORS_H_
#define FARCALL_TOOLS_GEN_SELECTORS_SELECTORS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tools/gen_selectors/function.h"

namespace farcall::selectors {

enum class Plugin {
  kShared,  // k8s-rdma-shared-dev-plugin: many pods share each device
  kSriov,   // sriov-network-device-plugin: each pod has virtual functions of its own
};

// An empty list selects everything; else a value of it must match, and all lists must.
struct Selectors {
  std::vector<std::string> vendors = {};
  std::vector<std::string> devices = {};  // "deviceIDs" of kShared
  std::vector<std::string> drivers = {};
  std::vector<std::string> if_names = {};  // kShared only
  std::vector<std::string> link_types = {};
  std::vector<std::string> pf_names = {};  // kSriov only
};

// Whether the plugin looks at the function at all: one of PCI class 02; kSriov takes neither a
// physical function that has virtual ones, nor one with the default route.
bool IsSeen(Plugin plugin, const Function& function);

// Whether the plugin, on the function's node, would give it to pods.
bool Selects(Plugin plugin, const Selectors& selectors, const Function& function);

// kSriov compares a pfName without regard to case, and takes it for a regular expression that may
// match anywhere in the name. `value` is a name, or a name between ^ and $ with its dots escaped.
bool MatchesPfName(absl::string_view value, absl::string_view name);
// "ens1.5": "^ens1\.5$"
std::string Anchored(absl::string_view name);
// Letters, digits and _ . : @ - only: nothing else that regular expressions know.
bool IsPlainName(absl::string_view name);

}  // namespace farcall::selectors

#endif  // FARCALL_TOOLS_GEN_SELECTORS_SELECTORS_H_
