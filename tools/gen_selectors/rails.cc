// SPDX-License-Identifier: Apache-2.0

#include "tools/gen_selectors/rails.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace farcall::selectors {
namespace {

// A port of a node: a physical function, and the chosen ones on it.
struct Port {
  std::string pci;
  std::string name;
  std::vector<size_t> members;  // of `judged`
};

struct Node {
  std::string name;
  std::vector<Port> ports;  // by PCI address
};

std::vector<Node> NodesOf(const std::vector<Judged>& judged) {
  std::vector<Node> nodes;
  for (size_t i = 0; i < judged.size(); ++i) {
    const Function& function = judged[i].function;
    if (!judged[i].chosen()) continue;
    if (nodes.empty() || nodes.back().name != function.node) nodes.push_back({function.node, {}});
    const bool is_virtual = !function.physfn.empty();
    const std::string& pci = is_virtual ? function.physfn : function.pci;
    std::vector<Port>& ports = nodes.back().ports;
    auto port = std::find_if(ports.begin(), ports.end(),
                             [&](const Port& candidate) { return candidate.pci == pci; });
    if (port == ports.end()) {
      ports.push_back({pci, is_virtual ? function.pf_name : function.if_name, {}});
      port = ports.end() - 1;
    }
    port->members.push_back(i);
  }
  for (Node& node : nodes) {
    std::stable_sort(node.ports.begin(), node.ports.end(),
                     [](const Port& a, const Port& b) { return PciLess(a.pci, b.pci); });
  }
  return nodes;
}

std::set<std::string> NamesOf(const Node& node) {
  std::set<std::string> names;
  for (const Port& port : node.ports) names.insert(port.name);
  return names;
}

bool NamesAgree(const std::vector<Node>& nodes) {
  return std::all_of(nodes.begin(), nodes.end(), [&](const Node& node) {
    const std::set<std::string> names = NamesOf(node);
    return names == NamesOf(nodes.front()) && names.count("") == 0 &&
           names.size() == node.ports.size();
  });
}

void WarnOfCounts(const std::vector<Node>& nodes, Rails& rails) {
  std::map<size_t, std::vector<std::string>> by_count;
  for (const Node& node : nodes) by_count[node.ports.size()].push_back(node.name);
  if (by_count.size() < 2) return;
  std::vector<std::string> parts;
  for (const auto& [count, names] : by_count) {
    parts.push_back(
        absl::StrCat(count, " on ", names.front(),
                     names.size() > 1 ? absl::StrCat(" and ", names.size() - 1, " more") : ""));
  }
  rails.warnings.push_back(
      absl::StrCat("the nodes differ in the number of ports (", absl::StrJoin(parts, ", "),
                   "): rails are counted from the first port, so one that is missing in between "
                   "shifts those after it"));
}

std::string KindOf(const Function& f) {
  return absl::StrCat(f.vendor, ":", f.device, " ", f.link_type.empty() ? f.link : f.link_type);
}

void WarnOfKinds(const std::vector<Judged>& judged, Rails& rails) {
  for (size_t rail = 0; rail < rails.count; ++rail) {
    std::map<std::string, std::string> example;
    for (size_t i = 0; i < judged.size(); ++i) {
      if (rails.rail[i] == rail) {
        example.emplace(KindOf(judged[i].function),
                        absl::StrCat(KindOf(judged[i].function), " on ", judged[i].function.node));
      }
    }
    if (example.size() < 2) continue;
    rails.warnings.push_back(absl::StrCat(
        "rail ", RailName(rail), " is not the same on all nodes: ",
        absl::StrJoin(example, ", ", [](std::string* out, const auto& e) { *out += e.second; })));
  }
}

}  // namespace

Rails FindRails(const std::vector<Judged>& judged) {
  Rails rails;
  rails.rail.resize(judged.size());
  const std::vector<Node> nodes = NodesOf(judged);
  if (nodes.empty()) return rails;
  const bool by_name = NamesAgree(nodes);
  const std::vector<Port>& first = nodes.front().ports;
  for (const Node& node : nodes) {
    for (size_t i = 0; i < node.ports.size(); ++i) {
      const Port& port = node.ports[i];
      const auto same_name = std::find_if(
          first.begin(), first.end(), [&](const Port& other) { return other.name == port.name; });
      const size_t rail = by_name ? static_cast<size_t>(same_name - first.begin()) : i;
      for (const size_t member : port.members) rails.rail[member] = rail;
      rails.count = std::max(rails.count, rail + 1);
    }
  }
  WarnOfCounts(nodes, rails);
  if (!by_name && nodes.size() > 1) {
    rails.warnings.push_back(
        "the nodes' interfaces have different names, so rails are matched by the order of PCI "
        "addresses: see in the table that each rail is wired to one switch");
  }
  WarnOfKinds(judged, rails);
  return rails;
}

std::string RailName(size_t rail) {
  std::string name;
  for (size_t left = rail + 1; left > 0; left = (left - 1) / 26) {
    name.insert(name.begin(), static_cast<char>('a' + (left - 1) % 26));
  }
  return name;
}

}  // namespace farcall::selectors
