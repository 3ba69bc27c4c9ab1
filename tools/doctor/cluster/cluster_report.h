// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_DOCTOR_CLUSTER_CLUSTER_REPORT_H_
#define FARCALL_TOOLS_DOCTOR_CLUSTER_CLUSTER_REPORT_H_

#include <string>

#include "tools/doctor/checks/finding.h"
#include "tools/doctor/cluster/matrix.h"

namespace farcall::doctor {

// Ready: each host answers and is ready, each path goes over RDMA, no number is an outlier.
// Degraded: some of it is amiss. No RDMA: no path goes over it.
ExitCode StateOf(const Cluster& cluster, const std::vector<Matrix>& matrices);

// For people: the nodes, the matrices, whose outliers have a star, and what is amiss.
std::string ToText(const Cluster& cluster);
// For programs, and for tools/cluster_picture: one JSON object, as docs/doctor.md has it.
std::string ToJson(const Cluster& cluster);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_CLUSTER_CLUSTER_REPORT_H_
