// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_DOCTOR_CLUSTER_ASK_H_
#define FARCALL_TOOLS_DOCTOR_CLUSTER_ASK_H_

#include <vector>

#include "absl/status/statusor.h"
#include "tools/doctor/cluster/cluster.h"
#include "tools/doctor/cluster/hosts.h"
#include "tools/doctor/peer/ways.h"

namespace farcall::doctor {

// Asks each host's doctor for its report, then has each that answers measure against each other
// one, in the rounds of plan.h. A host that does not answer, refuses or ends in between is told of,
// and stops nothing. `seconds`: for each number. An error: this process cannot call.
absl::StatusOr<Cluster> AskCluster(const std::vector<Host>& hosts, double seconds, size_t at_once,
                                   const Progress& progress);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_CLUSTER_ASK_H_
