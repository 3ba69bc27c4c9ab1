// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_DOCTOR_CLUSTER_COMMAND_H_
#define FARCALL_TOOLS_DOCTOR_CLUSTER_COMMAND_H_

#include <vector>

#include "tools/doctor/cluster/hosts.h"
#include "tools/doctor/peer/ways.h"
#include "tools/doctor/program.h"

namespace farcall::doctor {

struct ClusterCommand {
  std::vector<HostLine> hosts;
  double seconds = 1;  // for each number
  size_t at_once = 8;  // paths that are measured at the same time
  bool json = false;   // on standard output; the text on standard error then
};

// Returns an ExitCode.
int RunCluster(const ClusterCommand& command, const Streams& streams, const Progress& progress);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_CLUSTER_COMMAND_H_
