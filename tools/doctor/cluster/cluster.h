// SPDX-License-Identifier: Apache-2.0
//
// What was found in a cluster: each node for itself, and each path. Texts can be printed.

#ifndef FARCALL_TOOLS_DOCTOR_CLUSTER_CLUSTER_H_
#define FARCALL_TOOLS_DOCTOR_CLUSTER_CLUSTER_H_

#include <string>
#include <vector>

#include "tools/doctor/cluster/plan.h"
#include "tools/doctor/peer/comparison.h"
#include "tools/doctor/peer/doctor.pb.h"

namespace farcall::doctor {

struct ClusterNode {
  std::string name;
  std::string server;       // its address; "": not known
  std::string trouble{};    // why nothing is measured with it; "": it answers
  std::string summary{};    // of its report, or why it made none
  ReportResponse report{};  // anew; no status: it made none
};

struct PathResult {
  Path path;
  std::string trouble{};  // why no row is there
  std::vector<ComparisonRow> rows{};
};

struct Cluster {
  std::vector<ClusterNode> nodes;
  std::vector<PathResult> paths;
  double seconds = 0;  // that it took
};

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_CLUSTER_CLUSTER_H_
