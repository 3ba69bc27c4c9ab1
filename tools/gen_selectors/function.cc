// SPDX-License-Identifier: Apache-2.0

#include "tools/gen_selectors/function.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace farcall::selectors {
namespace {

constexpr size_t kMaxText = 200;
// <linux/if_arp.h>
constexpr uint32_t kEthernet = 1;
constexpr uint32_t kInfiniband = 32;

std::string LinkType(const node::Netdev* netdev) {
  if (netdev == nullptr) return "";
  if (netdev->type() == kEthernet) return "ether";
  return netdev->type() == kInfiniband ? "infiniband" : "";
}

// A switchdev's representors lie below the physical function too; only the uplink is its name.
std::string NameOfPhysical(const node::Inventory& inventory, absl::string_view physfn) {
  for (const node::Netdev& netdev : inventory.netdevs()) {
    const bool representor = absl::StartsWith(netdev.phys_port_name(), "pf");
    if (netdev.pci().address() == physfn && !representor) return netdev.name();
  }
  return "";
}

void FillFromPci(const node::Inventory& inventory, const node::Pci& pci, Function& function) {
  function.pci = Printable(pci.address());
  function.vendor = pci.vendor();
  function.device = pci.device();
  function.driver = pci.driver();
  function.physfn = pci.physfn();
  function.numvfs = pci.sriov_numvfs();
  function.totalvfs = pci.sriov_totalvfs();
  if (pci.has_vf_index()) function.vf_index = pci.vf_index();
  if (pci.has_physfn()) function.pf_name = NameOfPhysical(inventory, pci.physfn());
  function.is_network = !pci.has_pci_class() || absl::StartsWith(pci.pci_class(), "02");
}

void FillFromPort(const node::Device& device, Function& function) {
  function.up = node::HasActivePort(device);
  function.gbps = node::RateGbps(device);
  if (device.ports_size() == 0) return;
  const node::Port& port = device.ports(0);
  function.link = port.link_layer();
  function.port_state = Printable(
      absl::StrCat(port.state(), port.phys_state().empty() ? "" : ", ", port.phys_state()));
}

}  // namespace

std::string NodeName(const node::Inventory& inventory, size_t index) {
  if (inventory.hostname().empty()) return absl::StrCat("node ", index + 1);
  return Printable(inventory.hostname());
}

std::vector<Function> FunctionsOf(const node::Inventory& inventory, size_t index,
                                  bool include_software) {
  std::vector<Function> functions;
  for (const node::Device& device : inventory.devices()) {
    Function& function = functions.emplace_back();
    function.node = NodeName(inventory, index);
    function.rdma = Printable(device.name());
    function.software = device.software();
    function.parent = Printable(device.parent());
    function.is_iwarp = node::IsIwarp(device);
    function.has_umad = device.has_umad();
    if (device.has_pci()) FillFromPci(inventory, device.pci(), function);
    function.is_below = device.has_below();
    if (function.is_below && include_software) {
      FillFromPci(inventory, device.below(), function);
      function.if_name = device.parent();
    }
    FillFromPort(device, function);
    if (device.netdevs_size() > 0) {
      function.if_name = *std::min_element(device.netdevs().begin(), device.netdevs().end());
    }
    const node::Netdev* const netdev = node::FindNetdev(inventory, function.if_name);
    function.link_type = LinkType(netdev);
    function.default_route = netdev != nullptr && netdev->default_route();
  }
  std::stable_sort(functions.begin(), functions.end(), [](const Function& a, const Function& b) {
    if (a.pci.empty() != b.pci.empty()) return b.pci.empty();
    return PciLess(a.pci, b.pci);
  });
  return functions;
}

bool PciLess(absl::string_view left, absl::string_view right) {
  if (left.size() != right.size()) return left.size() < right.size();
  return left < right;
}

std::string Describe(const Function& function) {
  std::string where = function.pci;
  if (!function.if_name.empty()) {
    absl::StrAppend(&where, where.empty() ? "" : ", ", Printable(function.if_name));
  }
  return where.empty() ? function.rdma : absl::StrCat(function.rdma, " (", where, ")");
}

std::string Printable(absl::string_view text) {
  std::string printable(text.substr(0, kMaxText));
  for (char& c : printable) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) c = '?';
  }
  return printable;
}

}  // namespace farcall::selectors
