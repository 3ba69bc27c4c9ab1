// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/drivers/near_adapters.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"

namespace farcall {

std::vector<LoopPlace> PlacesNear(const std::vector<int>& adapter_nodes, const HostCpus& host,
                                  size_t loops) {
  std::vector<LoopPlace> near;
  size_t nodes = 0;
  size_t room = 0;
  for (const NumaNode& node : host.nodes) {
    LoopPlace place{{}, node.number};
    std::set_intersection(node.cpus.begin(), node.cpus.end(), host.allowed.begin(),
                          host.allowed.end(), std::back_inserter(place.cpus));
    if (!place.cpus.empty()) ++nodes;
    const bool has_adapter =
        std::find(adapter_nodes.begin(), adapter_nodes.end(), node.number) != adapter_nodes.end();
    if (!has_adapter || place.cpus.size() < 2) continue;
    room += place.cpus.size();
    near.push_back(std::move(place));
  }
  if (nodes < 2 || room < loops) return {};
  std::vector<LoopPlace> places;
  std::map<int, size_t> taken;
  for (size_t turn = 0; places.size() < loops; ++turn) {
    const LoopPlace& next = near[turn % near.size()];
    if (taken[next.node]++ < next.cpus.size()) places.push_back(next);
  }
  return places;
}

std::vector<int> CpusOf(const std::vector<LoopPlace>& places) {
  std::set<int> cpus;
  for (const LoopPlace& place : places) cpus.insert(place.cpus.begin(), place.cpus.end());
  return {cpus.begin(), cpus.end()};
}

std::string Describe(const std::vector<LoopPlace>& places) {
  std::map<int, size_t> nodes;
  for (const LoopPlace& place : places) ++nodes[place.node];
  std::string text;
  for (const auto& [node, loops] : nodes) {
    std::vector<LoopPlace> here;
    std::copy_if(places.begin(), places.end(), std::back_inserter(here),
                 [at = node](const LoopPlace& place) { return place.node == at; });
    absl::StrAppend(&text, text.empty() ? "" : ", ", loops, loops == 1 ? " loop" : " loops",
                    " on node ", node, " (", CpuListText(CpusOf(here)), ")");
  }
  return text;
}

}  // namespace farcall
