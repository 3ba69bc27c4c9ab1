// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BASE_NUMA_NODE_H_
#define FARCALL_TRANSPORT_BASE_NUMA_NODE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace farcall {

// The numbers of a list as the kernel writes them: "0-3,8,10-11". What is no range of numbers below
// kMostCpus is left out.
std::vector<int> ParseCpuList(absl::string_view list);

// The NUMA node of all these processors, numbers as in /proc/cpuinfo; -1: they are of several, or
// it cannot be read. `nodes`: /sys/devices/system/node. Reads files: for when things are made.
int NodeOfCpus(const std::vector<int>& cpus, const std::string& nodes = "/sys/devices/system/node");

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_NUMA_NODE_H_
