// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_DOCTOR_CHECKS_RDMA_NAMESPACE_H_
#define FARCALL_TOOLS_DOCTOR_CHECKS_RDMA_NAMESPACE_H_

#include <vector>

#include "tools/doctor/checks/finding.h"
#include "tools/doctor/checks/gids.h"

namespace farcall::doctor {

// How RDMA devices and network namespaces go together here.
Finding CheckNamespace(const node::Inventory& inventory, const std::vector<OwnAddress>& own);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_CHECKS_RDMA_NAMESPACE_H_
