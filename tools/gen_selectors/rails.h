// SPDX-License-Identifier: Apache-2.0
//
// A rail: the port at the same place of each node, which is wired to the same switch.

#ifndef FARCALL_TOOLS_GEN_SELECTORS_RAILS_H_
#define FARCALL_TOOLS_GEN_SELECTORS_RAILS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "tools/gen_selectors/choose.h"

namespace farcall::selectors {

struct Rails {
  size_t count = 0;
  // Of each judged function, its rail; nothing for those left out.
  std::vector<absl::optional<size_t>> rail;
  // In what the nodes disagree, with the cure.
  std::vector<std::string> warnings;
};

// Ports are matched by the names of their interfaces where all nodes that have any have the same,
// else by the order of their PCI addresses. Virtual functions are on the rail of their physical
// one. `judged` is in the order of FunctionsOf, one node after the other.
Rails FindRails(const std::vector<Judged>& judged);

// "a" to "z", "aa", "ab", ...
std::string RailName(size_t rail);

}  // namespace farcall::selectors

#endif  // FARCALL_TOOLS_GEN_SELECTORS_RAILS_H_
