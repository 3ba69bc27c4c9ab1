// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BASE_CORES_H_
#define FARCALL_TRANSPORT_BASE_CORES_H_

#include <pthread.h>

#include <string>
#include <vector>

#include "transport/base/cpu_quota.h"
#include "transport/base/numa_node.h"

namespace farcall {

// The cores that this process may use: on which it may run (affinity, cpusets), and no more than
// its cgroups' quotas are worth, rounded up; at least 1. Reads files: for when things are made.
int UsableCores();
// The same with a test's files.
int UsableCores(FileReader read);

// The processors on which this thread may run, in their order.
std::vector<int> AllowedCpus();

// With those that this thread may run on. `nodes`: /sys/devices/system/node. Reads files.
HostCpus ReadHostCpus(const std::string& nodes = "/sys/devices/system/node");

// From now on `thread` runs on these processors only. False: it may use none, and nothing changes.
bool RunOnlyOn(const std::vector<int>& cpus, pthread_t thread = pthread_self());

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_CORES_H_
