// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tools/doctor/checks/checks.h"
#include "tools/doctor/checks/interfaces.h"

namespace farcall::doctor {
namespace {

constexpr const char* kCheck = "port";
constexpr uint32_t kLargestMtu = 4096;

std::string LinkOf(const node::Device& device, const node::Port& port) {
  if (node::IsIwarp(device)) return "iWARP";
  return node::IsEthernet(port) ? "RoCE" : port.link_layer();
}

// What goes around the payload of a RoCE packet at most, which is what the kernel takes off the
// MTU of the network interface: iboe_get_mtu of <rdma/ib_addr.h>.
uint32_t RoceMtuOf(uint32_t netdev_mtu) {
  constexpr uint32_t kAround = 96;
  uint32_t mtu = 0;
  for (uint32_t each = 256; each <= kLargestMtu; each *= 2) {
    if (netdev_mtu >= each + kAround) mtu = each;
  }
  return mtu;
}

std::string CureOfState(const node::Port& port, const std::string& netdev) {
  const std::string& physical = port.phys_state();
  if (absl::StrContains(physical, "Disabled")) {
    return netdev.empty() ? "the port is switched off: the vendor's tool, or ibportstate"
                          : absl::StrCat("ip link set ", netdev, " up");
  }
  if (port.state() == "INIT" || port.state() == "ARMED") {
    return "InfiniBand: a subnet manager is missing (opensm, or that of the switch)";
  }
  return "cable, transceiver and the switch's port";
}

struct Mtu {
  std::string text;
  std::string hint;
  bool less = false;  // than the network interface has room for
};

Mtu MtuOf(const node::Netdev* netdev, const node::Device& device, const node::Port& port,
          const VerbsDevice* opened) {
  Mtu mtu;
  const bool roce = node::IsEthernet(port) && !node::IsIwarp(device);
  uint32_t active = 0;
  if (opened != nullptr) {
    const auto found = opened->mtu.find(port.number());
    if (found != opened->mtu.end()) active = found->second;
  }
  if (active > 0 && !node::IsIwarp(device)) absl::StrAppend(&mtu.text, ", MTU ", active);
  if (netdev == nullptr || !netdev->has_mtu() || !node::IsEthernet(port)) return mtu;
  absl::StrAppend(&mtu.text, ", MTU of ", netdev->name(), " ", netdev->mtu());
  if (!roce) return mtu;
  const uint32_t room = RoceMtuOf(netdev->mtu());
  mtu.less = active > 0 && active < room;
  if (room < kLargestMtu) {
    mtu.hint = absl::StrCat("packets carry ", room, " bytes at most; a network with an MTU of ",
                            "4200 or more, jumbo frames, lets them carry 4096");
  }
  return mtu;
}

// 0: not known.
double SlotGbps(const node::Pci& pci) {
  double transfers = 0;
  double lanes = 0;
  const std::string& speed = pci.link_speed();
  const size_t unit = speed.find(" GT/s");
  if (unit == std::string::npos || !absl::SimpleAtod(speed.substr(0, unit), &transfers)) return 0;
  if (!absl::SimpleAtod(pci.link_width(), &lanes)) return 0;
  // 8b/10b up to 5 GT/s, then 128b/130b or better.
  return transfers * lanes * (transfers > 5 ? 0.98 : 0.8);
}

}  // namespace

bool HasRoce(const node::Device& device) {
  return !node::IsIwarp(device) &&
         std::any_of(device.ports().begin(), device.ports().end(), node::IsEthernet);
}

Findings CheckPorts(const node::Inventory& inventory, const node::Device& device,
                    const VerbsDevice* opened, const std::vector<OwnAddress>& own) {
  Findings findings;
  if (device.ports().empty()) {
    return {Unknown(kCheck, device.name(), "sysfs shows no port of it")};
  }
  const bool some_active = node::HasActivePort(device);
  for (const node::Port& port : device.ports()) {
    std::string text = absl::StrCat("port ", port.number(), ": ",
                                    port.state().empty() ? "state not readable" : port.state(),
                                    ", ", LinkOf(device, port));
    if (!port.rate().empty()) absl::StrAppend(&text, ", ", port.rate());
    const node::Netdev* const netdev = InterfaceOf(inventory, device, port, own);
    const Mtu mtu = MtuOf(netdev, device, port, opened);
    absl::StrAppend(&text, mtu.text);
    if (!device.fw_ver().empty()) absl::StrAppend(&text, ", firmware ", device.fw_ver());
    if (port.state().empty()) {
      findings.push_back(Unknown(kCheck, device.name(), text));
    } else if (!node::IsActive(port)) {
      // The second port of a card is often not cabled.
      findings.push_back({kCheck, device.name(),
                          some_active ? Verdict::kDegraded : Verdict::kFailed,
                          absl::StrCat(text, " (", port.phys_state(), ")"),
                          some_active ? "the device is used by its other port alone"
                                      : "nothing passes (reason no_active_port)",
                          CureOfState(port, netdev == nullptr ? "" : netdev->name())});
    } else if (mtu.less) {
      findings.push_back(
          Degraded(kCheck, device.name(), text,
                   "the port's MTU is smaller than its network interface has room for",
                   "set the interface's MTU again, or look at the other end's"));
    } else {
      findings.push_back(Ok(kCheck, device.name(), text, mtu.hint));
    }
  }
  return findings;
}

Findings CheckPci(const node::Device& device) {
  constexpr const char* kPci = "pci";
  if (!device.has_pci() || device.pci().link_speed().empty()) return {};
  const node::Pci& pci = device.pci();
  // The link is that of the physical function (PCI Express Base, 9.3.5: zero in virtual ones).
  if (node::IsVirtualFunction(device) || pci.link_width() == "0" ||
      absl::StartsWith(pci.link_speed(), "Unknown")) {
    return {};
  }
  const std::string text = absl::StrCat(pci.address(), ", ", pci.driver(), ", ", pci.link_speed(),
                                        " x", pci.link_width());
  const std::string& most = pci.max_link_speed();
  const std::string& widest = pci.max_link_width();
  const bool told = !most.empty() && !widest.empty() && !pci.link_width().empty();
  const bool slower = !most.empty() && most != pci.link_speed();
  const bool narrower = !widest.empty() && !pci.link_width().empty() && widest != pci.link_width();
  if (told && !slower && !narrower) return {Ok(kPci, device.name(), text)};
  const std::string beside =
      absl::StrCat(text, told ? absl::StrCat("; it can ", most, " x", widest)
                              : "; not all that the link is and can is readable");
  const double slot = SlotGbps(pci);
  if (slot > 0 && node::RateGbps(device) > 0 && slot >= node::RateGbps(device)) {
    return {Ok(kPci, device.name(), beside, "that suffices for the port's rate")};
  }
  if (!slower && !narrower) {
    return {Unknown(kPci, device.name(), beside, "", "lspci -vv, as root")};
  }
  return {Degraded(kPci, device.name(), beside,
                   "the slot, not the network, may be what limits bandwidth",
                   "another slot, or its settings in the firmware of the host")};
}

Findings CheckNuma(const node::Inventory& inventory, const node::Device& device) {
  constexpr const char* kNuma = "numa";
  if (!device.pci().has_numa_node()) {
    if (device.software().empty() && !device.pci().no_numa_node()) {
      return {Unknown(kNuma, device.name(), "its NUMA node is not readable")};
    }
    return {Ok(kNuma, device.name(), "on no NUMA node that the kernel tells")};
  }
  const int node = device.pci().numa_node();
  const auto& allowed = inventory.allowed_numa_nodes();
  const std::string text =
      absl::StrCat("on node ", node, "; allowed processors: ", inventory.allowed_cpus());
  if (allowed.empty()) {
    return {Unknown(kNuma, device.name(), text + ", of nodes not readable here")};
  }
  if (std::find(allowed.begin(), allowed.end(), node) != allowed.end()) {
    return {
        Ok(kNuma, device.name(), text,
           allowed.size() > 1 ? "RuntimeOptions::cpus may keep the event loops on its node" : "")};
  }
  return {
      Degraded(kNuma, device.name(), text + ", none of them of that node",
               "each message crosses the link between the sockets: more latency, less bandwidth",
               "RuntimeOptions::cpus, taskset, or in Kubernetes the topology manager "
               "(single-numa-node)")};
}

}  // namespace farcall::doctor
