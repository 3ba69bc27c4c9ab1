// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_GEN_SELECTORS_FIT_H_
#define FARCALL_TOOLS_GEN_SELECTORS_FIT_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/gen_selectors/function.h"
#include "tools/gen_selectors/selectors.h"

namespace farcall::selectors {

// Selectors that select exactly the `wanted` ones (flags, one for each function; at least one is
// set) on all nodes: by vendor, device and link type where that is enough, since such selectors
// also hold for nodes to come; then by driver, and by names last. kFailedPrecondition: no
// selectors can; `in_the_way` is then the function that forbids it, or functions.size().
absl::StatusOr<Selectors> Fit(Plugin plugin, const std::vector<Function>& functions,
                              const std::vector<bool>& wanted, size_t* in_the_way = nullptr);

}  // namespace farcall::selectors

#endif  // FARCALL_TOOLS_GEN_SELECTORS_FIT_H_
