// SPDX-License-Identifier: Apache-2.0
//
// A plan in words.

#ifndef FARCALL_TOOLS_GEN_SELECTORS_EXPLAIN_H_
#define FARCALL_TOOLS_GEN_SELECTORS_EXPLAIN_H_

#include <string>
#include <vector>

#include "tools/gen_selectors/plan.h"

namespace farcall::selectors {

// Lines without line ends. Nodes of which the same is to be said share a line.
std::vector<std::string> ExplainResource(const Resource& resource, const Plan& plan);
std::vector<std::string> ExplainLeftOut(const Plan& plan);

// "a, b, c and 7 more"
std::string ShortList(const std::vector<std::string>& names);

// All RDMA devices of all nodes, for people.
std::string Table(const Plan& plan);

}  // namespace farcall::selectors

#endif  // FARCALL_TOOLS_GEN_SELECTORS_EXPLAIN_H_
