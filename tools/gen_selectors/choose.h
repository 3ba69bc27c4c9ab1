// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_GEN_SELECTORS_CHOOSE_H_
#define FARCALL_TOOLS_GEN_SELECTORS_CHOOSE_H_

#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "tools/gen_selectors/function.h"
#include "tools/gen_selectors/selectors.h"

namespace farcall::selectors {

// What pods shall have.
struct Wish {
  Plugin plugin = Plugin::kShared;
  absl::optional<std::string> link = absl::nullopt;  // "InfiniBand" or "Ethernet" only
  // Slower ones are left out. Not set: a quarter of the fastest on all nodes that `link` and
  // `exclude` keep, which tells the ports for management from those of the fabric.
  absl::optional<double> min_gbps = absl::nullopt;
  bool include_down = false;
  bool include_software = false;          // FunctionsOf heeds it
  std::vector<std::string> exclude = {};  // RDMA devices, interfaces or PCI addresses, on all nodes
};

struct Judged {
  Function function;
  std::string why_not;  // "": it is chosen
  bool chosen() const { return why_not.empty(); }
};

// In the order of the functions. What is left out has the reason, and the option that changes it.
std::vector<Judged> Choose(const Wish& wish, const std::vector<Function>& functions);

// The names of `exclude` that no function has.
std::vector<std::string> UnknownNames(const Wish& wish, const std::vector<Function>& functions);

}  // namespace farcall::selectors

#endif  // FARCALL_TOOLS_GEN_SELECTORS_CHOOSE_H_
