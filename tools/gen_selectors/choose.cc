// SPDX-License-Identifier: Apache-2.0

#include "tools/gen_selectors/choose.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"

namespace farcall::selectors {
namespace {

bool IsNamed(const Function& function, const std::string& name) {
  return function.rdma == name || function.if_name == name || function.pci == name;
}

std::string Gbps(double gbps) { return absl::StrCat(gbps, " Gb/s"); }

bool IsExcluded(const Wish& wish, const Function& function) {
  return std::any_of(wish.exclude.begin(), wish.exclude.end(),
                     [&](const std::string& name) { return IsNamed(function, name); });
}

// Of those that plugins could give to pods at all, and that the wish does not leave out: beside
// these a port is for management or not.
double Fastest(const Wish& wish, const std::vector<Function>& functions) {
  double fastest = 0;
  for (const Function& function : functions) {
    if (!function.up || function.pci.empty() || IsExcluded(wish, function)) continue;
    if (wish.link && function.link != *wish.link) continue;
    fastest = std::max(fastest, function.gbps);
  }
  return fastest;
}

std::string NoPciFunction(const Function& function) {
  constexpr char kPciOnly[] = ", and the plugin selects PCI functions only";
  if (function.software.empty()) {
    return absl::StrCat("it has no PCI address of its own", kPciOnly);
  }
  return absl::StrCat(function.software, " is a driver in software",
                      function.parent.empty() ? "" : " over ", function.parent, ": ",
                      function.is_below ? "--include-software keeps it, for trials"
                                        : absl::StrCat("it has no PCI address", kPciOnly));
}

// All functions by node and PCI address.
using Index = std::map<std::pair<std::string, std::string>, const Function*>;

Index IndexOf(const std::vector<Function>& functions) {
  Index index;
  for (const Function& function : functions) {
    if (!function.pci.empty()) index[{function.node, function.pci}] = &function;
  }
  return index;
}

std::string WhyNotShared(const Function& function) {
  if (!function.physfn.empty()) {
    return absl::StrCat("a virtual function of ", function.physfn,
                        ": --format sriov gives those to pods");
  }
  if (!function.has_umad && function.is_iwarp) {
    return absl::StrCat("iWARP has no umad, and the plugin takes only devices that have one: ",
                        function.totalvfs > 0 ? "--format sriov gives its virtual functions to pods"
                                              : "a pod that brings /dev/infiniband itself "
                                                "(privileged), or TCP");
  }
  return "";
}

std::string WhyNotSriov(const Function& function) {
  if (!function.physfn.empty()) return "";
  if (function.numvfs > 0) {
    return absl::StrCat("a physical function: its ", function.numvfs, " virtual ones are for pods");
  }
  if (function.totalvfs == 0) return "a physical function that can have no virtual ones";
  return absl::StrCat("a physical function without virtual ones: on the node, echo ",
                      std::min(function.totalvfs, 8u), " > /sys/bus/pci/devices/", function.pci,
                      "/sriov_numvfs");
}

// A virtual function may be down until a pod has it: what counts is the physical one's port.
std::string WhyNoLink(const Function& function, const Index& index) {
  const Function* port = &function;
  if (!function.physfn.empty()) {
    const auto physical = index.find({function.node, function.physfn});
    if (physical == index.end()) return "";
    port = physical->second;
  }
  if (port->up) return "";
  return absl::StrCat("no link (", port->port_state.empty() ? "no port" : port->port_state,
                      "): --include-down keeps it");
}

std::string WhyTooSlow(const Wish& wish, const Function& function, double fastest) {
  // What a port without a link says is no rate.
  if (!function.up || function.gbps <= 0) return "";
  if (wish.min_gbps) {
    if (function.gbps >= *wish.min_gbps) return "";
    return absl::StrCat("slower than --min-rate: ", Gbps(function.gbps));
  }
  if (function.gbps * 4 >= fastest) return "";
  return absl::StrCat("for management, by its rate: ", Gbps(function.gbps),
                      " where the fastest has ", Gbps(fastest), ": --min-rate ", function.gbps,
                      " keeps it");
}

std::string WhyNot(const Wish& wish, const Function& function, const Index& index, double fastest) {
  for (const std::string& name : wish.exclude) {
    if (IsNamed(function, name)) return absl::StrCat("--exclude ", Printable(name));
  }
  if (function.pci.empty()) return NoPciFunction(function);
  if (!function.is_network) {
    return "its PCI class is not network (02), and the plugin looks at no other";
  }
  const bool shared = wish.plugin == Plugin::kShared;
  std::string why = shared ? WhyNotShared(function) : WhyNotSriov(function);
  if (!why.empty()) return why;
  if (!shared && function.default_route) {
    return "it has the node's default route, and the plugin takes no such function";
  }
  if (wish.link && function.link != *wish.link) {
    return absl::StrCat("not ", *wish.link, ": ",
                        function.link.empty() ? "unknown" : Printable(function.link));
  }
  if (!wish.include_down) why = WhyNoLink(function, index);
  return why.empty() ? WhyTooSlow(wish, function, fastest) : why;
}

}  // namespace

std::vector<Judged> Choose(const Wish& wish, const std::vector<Function>& functions) {
  const double fastest = Fastest(wish, functions);
  const Index index = IndexOf(functions);
  std::vector<Judged> judged;
  judged.reserve(functions.size());
  for (const Function& function : functions) {
    judged.push_back({function, WhyNot(wish, function, index, fastest)});
  }
  return judged;
}

std::vector<std::string> UnknownNames(const Wish& wish, const std::vector<Function>& functions) {
  std::vector<std::string> unknown;
  for (const std::string& name : wish.exclude) {
    const bool known = std::any_of(functions.begin(), functions.end(),
                                   [&](const Function& f) { return IsNamed(f, name); });
    if (!known) unknown.push_back(name);
  }
  return unknown;
}

}  // namespace farcall::selectors
