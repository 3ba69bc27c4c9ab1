// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/cluster_command.h"

#include "tools/doctor/cluster/ask.h"
#include "tools/doctor/cluster/cluster_report.h"
#include "tools/doctor/diagnose.h"

namespace farcall::doctor {
namespace {

ExitCode CodeOf(ClusterState state) {
  if (state == ClusterState::kReady) return kReady;
  return state == ClusterState::kDegraded ? kDegraded : kNoRdma;
}

}  // namespace

int RunCluster(const ClusterCommand& command, const Streams& streams, const Progress& progress) {
  progress("asking for addresses");
  const std::vector<Host> hosts = Resolve(command.hosts);
  const auto cluster = AskCluster(hosts, command.seconds, command.at_once, progress);
  if (!cluster.ok()) {
    streams.err << "doctor: " << std::string(cluster.status().message()) << "\n" << std::flush;
    return kNoRdma;
  }
  (command.json ? streams.err : streams.out) << ToText(*cluster) << std::flush;
  if (command.json) streams.out << ToJson(*cluster) << std::flush;
  return CodeOf(StateOf(*cluster, MatricesOf(*cluster)));
}

}  // namespace farcall::doctor
