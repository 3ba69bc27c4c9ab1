// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/doctor/checks/checks.h"
#include "transport/base/host/numa_node.h"
#include "transport/loop/drivers/near_adapters.h"
#include "transport/rdma/choice/adapter_choice.h"

namespace farcall::doctor {
namespace {

struct Adapter {
  std::string name;
  int node = -1;
  uint32_t rate = 0;  // Mb/s
};

// None: some of it cannot be read.
std::optional<HostCpus> CpusOf(const node::Inventory& inventory) {
  HostCpus host;
  for (const node::NumaNode& node : inventory.numa_nodes()) {
    if (!node.has_number() || !node.has_cpus()) return std::nullopt;
    host.nodes.push_back({node.number(), ParseCpuList(node.cpus())});
  }
  host.allowed = ParseCpuList(inventory.allowed_cpus());
  // In a container some nodes may be hidden.
  const auto known = [&](int cpu) { return NodeOfCpus({cpu}, host.nodes) >= 0; };
  if (host.allowed.empty() || !std::all_of(host.allowed.begin(), host.allowed.end(), known)) {
    return std::nullopt;
  }
  return host;
}

// Gb/s, of its active ports; 0: it has none. None: some of it cannot be read.
std::optional<double> RateOf(const node::Device& device) {
  double rate = 0;
  for (const node::Port& port : device.ports()) {
    if (port.state().empty() || (node::IsActive(port) && port.rate_gbps() <= 0)) {
      return std::nullopt;
    }
    if (node::IsActive(port)) rate = std::max(rate, port.rate_gbps());
  }
  return rate;
}

// Those that have an active port. None: some of it cannot be read.
std::optional<std::vector<Adapter>> AdaptersOf(const node::Inventory& inventory,
                                               const std::vector<std::string>& usable) {
  std::vector<Adapter> adapters;
  for (const std::string& name : usable) {
    const node::Device* const device = node::FindDevice(inventory, name);
    if (device == nullptr) return std::nullopt;
    const node::Pci& pci = device->pci();
    const bool told = pci.has_numa_node() || pci.no_numa_node() || !device->software().empty();
    const std::optional<double> rate = RateOf(*device);
    if (!told || !rate || device->ports().empty()) return std::nullopt;
    if (*rate == 0) continue;
    adapters.push_back({name, pci.has_numa_node() ? pci.numa_node() : -1,
                        static_cast<uint32_t>(std::lround(1000 * *rate))});
  }
  return adapters;
}

// As the library does.
std::vector<LoopPlace> PlacesOf(const std::vector<Adapter>& adapters, const HostCpus& host,
                                size_t loops, const SettingsFacts& settings) {
  std::vector<int> nodes;
  for (const Adapter& adapter : adapters) nodes.push_back(adapter.node);
  if (settings.cpus.empty() && settings.near_adapters) {
    std::vector<LoopPlace> near = PlacesNear(nodes, host, loops);
    if (!near.empty()) return near;
  }
  std::vector<LoopPlace> places;
  for (size_t i = 0; i < loops; ++i) {
    LoopPlace place{host.allowed};
    if (!settings.cpus.empty()) place.cpus = {settings.cpus[i % settings.cpus.size()]};
    place.node = NodeOfCpus(place.cpus, host.nodes);
    places.push_back(std::move(place));
  }
  return places;
}

// Those that connections of a loop there take first, before any has connections.
std::vector<Adapter> FirstFor(int loop_node, const std::vector<Adapter>& adapters) {
  const auto share = [&](const Adapter& one) {
    return ShareOf(one.rate, 0, IsFar(one.node, loop_node));
  };
  double most = 0;
  for (const Adapter& one : adapters) most = std::max(most, share(one));
  std::vector<Adapter> first;
  for (const Adapter& one : adapters) {
    if (share(one) == most) first.push_back(one);
  }
  return first;
}

std::string Cure(int number, const HostCpus& host) {
  for (const NumaNode& node : host.nodes) {
    if (node.number != number || node.cpus.empty()) continue;
    const std::string which =
        absl::StrCat("processors of node ", number, " (", CpuListText(node.cpus), ")");
    const bool allowed =
        std::find_first_of(node.cpus.begin(), node.cpus.end(), host.allowed.begin(),
                           host.allowed.end()) != node.cpus.end();
    if (allowed) return absl::StrCat("FARCALL_CPUS or RuntimeOptions::cpus with ", which);
    return absl::StrCat("let the process use ", which,
                        ": taskset, the container's cpuset, or in Kubernetes the topology manager "
                        "(single-numa-node)");
  }
  return "";  // it has memory alone
}

}  // namespace

Findings CheckLoopPlaces(const node::Inventory& inventory, const std::vector<std::string>& usable,
                         int loops, const SettingsFacts& settings) {
  constexpr const char* kLoops = "event loops";
  if (usable.empty() || loops < 1) return {};
  const auto host = CpusOf(inventory);
  const auto adapters = AdaptersOf(inventory, usable);
  if (!host || !adapters) {
    return {Unknown(kLoops, "",
                    "which adapters are near is not known: not all rates, nodes and processors are "
                    "readable here")};
  }
  if (adapters->empty()) return {};
  const auto places = PlacesOf(*adapters, *host, static_cast<size_t>(loops), settings);
  std::map<int, std::vector<LoopPlace>> nodes;
  for (const LoopPlace& place : places) nodes[place.node].push_back(place);
  Finding finding = Ok(kLoops, "", "");
  for (const auto& [node, here] : nodes) {
    const std::vector<Adapter> first = FirstFor(node, *adapters);
    const auto name = [](std::string* out, const Adapter& one) {
      absl::StrAppend(out, one.name, one.node < 0 ? "" : absl::StrCat(" of node ", one.node));
    };
    absl::StrAppend(&finding.finding, finding.finding.empty() ? "" : "; ",
                    node < 0 ? absl::StrCat(here.size(), " on several nodes") : Describe(here),
                    " take first ", absl::StrJoin(first, ", ", name));
    const auto far = [&, at = node](const Adapter& one) { return IsFar(one.node, at); };
    if (std::any_of(first.begin(), first.end(), far)) {
      finding.verdict = Verdict::kDegraded;
      finding.meaning =
          "messages, and the memory they lie in, cross the link between NUMA nodes: more latency, "
          "less "
          "bandwidth";
      finding.cure = Cure(first.front().node, *host);
    } else if (node < 0 && first.front().node >= 0 && finding.meaning.empty()) {
      finding.meaning =
          "the scheduler chooses where these loops run, so some messages may cross the link "
          "between NUMA nodes";
    }
  }
  return {finding};
}

}  // namespace farcall::doctor
