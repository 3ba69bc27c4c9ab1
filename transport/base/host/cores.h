// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BASE_HOST_CORES_H_
#define FARCALL_TRANSPORT_BASE_HOST_CORES_H_

#include <pthread.h>

#include <string>
#include <vector>

#include "transport/base/host/cpu_quota.h"
#include "transport/base/host/numa_node.h"

namespace farcall {

// The cores that this process may use: on which it may run (affinity, cpusets), and no more than
// its cgroups' quotas are worth, rounded up; at least 1. Reads files: for when things are made.
int UsableCores();
// The same with a test's files.
int UsableCores(FileReader read);

// The processors on which this thread may run, in their order.
std::vector<int> AllowedCpus();

inline constexpr const char* kNodesOfHost = "/sys/devices/system/node";

// With those that this thread may run on. `nodes`: kNodesOfHost. Reads files.
HostCpus ReadHostCpus(const std::string& nodes = kNodesOfHost);

// From now on `thread` runs on these processors only. False: it may use none, and nothing changes.
bool RunOnlyOn(const std::vector<int>& cpus, pthread_t thread = pthread_self());

// While it lives this thread runs on those processors of a NUMA node that it may use: so the pages
// that were not touched before it lie there. Nothing changes where there are none, and of node
// -1. For one thread, which no other code moves meanwhile. Reads files.
class StayOnNode {
 public:
  explicit StayOnNode(int node, const std::string& nodes = kNodesOfHost);
  StayOnNode(const StayOnNode&) = delete;
  StayOnNode& operator=(const StayOnNode&) = delete;
  ~StayOnNode();

 private:
  std::vector<int> before_;  // empty: it did not move
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_HOST_CORES_H_
