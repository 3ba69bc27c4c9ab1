// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/loop_nodes.h"

#include <cstddef>
#include <map>
#include <utility>

#include "transport/base/cores.h"
#include "transport/base/numa_node.h"

namespace farcall {

std::function<int(const EventLoop&)> NodesOfLoops(
    const std::vector<std::unique_ptr<EventLoop>>& loops, const std::vector<int>& cpus) {
  std::map<const EventLoop*, int> nodes;
  const int of_all = cpus.empty() ? NodeOfCpus(AllowedCpus()) : -1;
  for (size_t i = 0; i < loops.size(); ++i) {
    nodes[loops[i].get()] = cpus.empty() ? of_all : NodeOfCpus({cpus[i % cpus.size()]});
  }
  return [nodes = std::move(nodes)](const EventLoop& loop) {
    const auto found = nodes.find(&loop);
    return found == nodes.end() ? -1 : found->second;
  };
}

}  // namespace farcall
