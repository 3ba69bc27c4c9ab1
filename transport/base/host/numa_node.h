// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BASE_HOST_NUMA_NODE_H_
#define FARCALL_TRANSPORT_BASE_HOST_NUMA_NODE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace farcall {

// Processors have numbers as in /proc/cpuinfo, below this: Linux has no more on any architecture.
constexpr int kMaxCpus = 8192;

struct NumaNode {
  int number = 0;
  std::vector<int> cpus;
};

// The processors of a host, and which of them may be used.
struct HostCpus {
  std::vector<NumaNode> nodes;  // empty: they cannot be read
  std::vector<int> allowed;     // in their order
};

// The numbers of a list as the kernel writes them: "0-3,8,10-11". What is no range of numbers below
// kMaxCpus is left out.
std::vector<int> ParseCpuList(absl::string_view list);
// As the kernel writes it; `cpus` are in their order.
std::string CpuListText(const std::vector<int>& cpus);

// The NUMA node of all these processors; -1: they are of several, or of none that is known.
int NodeOfCpus(const std::vector<int>& cpus, const std::vector<NumaNode>& nodes);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_HOST_NUMA_NODE_H_
