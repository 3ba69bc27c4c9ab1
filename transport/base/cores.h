// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BASE_CORES_H_
#define FARCALL_TRANSPORT_BASE_CORES_H_

#include <pthread.h>

#include <vector>

#include "transport/base/cpu_quota.h"

namespace farcall {

// The cores that this process may use: on which it may run (affinity, cpusets), and no more than
// its cgroups' quotas are worth, rounded up; at least 1. Reads files: for when things are made.
int UsableCores();
// The same with a test's files.
int UsableCores(FileReader read);

constexpr int kMostCpus = 8192;  // Linux has no more on any architecture

// The processors on which this thread may run, numbers as in /proc/cpuinfo, in their order.
std::vector<int> AllowedCpus();

// From now on `thread` runs on these processors only. False: it may use none, and nothing changes.
bool RunOnlyOn(const std::vector<int>& cpus, pthread_t thread = pthread_self());

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_CORES_H_
