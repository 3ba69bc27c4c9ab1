// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "absl/strings/match.h"
#include "tools/node/inventory.h"
#include "tools/node/parse.h"

namespace farcall::node {

const Netdev* FindNetdev(const Inventory& inventory, absl::string_view name) {
  for (const Netdev& netdev : inventory.netdevs()) {
    if (netdev.name() == name) return &netdev;
  }
  return nullptr;
}

const Device* FindDevice(const Inventory& inventory, absl::string_view name) {
  for (const Device& device : inventory.devices()) {
    if (device.name() == name) return &device;
  }
  return nullptr;
}

bool IsVirtualFunction(const Device& device) { return device.pci().has_physfn(); }

bool IsActive(const Port& port) { return port.state() == "ACTIVE"; }

bool IsEthernet(const Port& port) { return port.link_layer() == "Ethernet"; }

bool IsIwarp(const Device& device) { return absl::StrContains(device.node_type(), "RNIC"); }

bool HasActivePort(const Device& device) {
  return std::any_of(device.ports().begin(), device.ports().end(), IsActive);
}

bool HasGidFrom(const Port& port, const Netdev& netdev) {
  const std::string end = GidEndOf(netdev.mac());
  return std::any_of(port.gids().begin(), port.gids().end(), [&](const Gid& gid) {
    if (netdev.mac().empty() || IsEmptyGid(gid.gid())) return false;
    // iWARP's begins with the address.
    return (!end.empty() && absl::EndsWith(gid.gid(), end)) || MacInGid(gid.gid()) == netdev.mac();
  });
}

bool BelongsTo(const Netdev& netdev, const Device& device) {
  if (absl::StartsWith(netdev.phys_port_name(), "pf")) return false;
  if (device.has_pci() && netdev.pci().address() == device.pci().address()) return true;
  return std::any_of(device.ports().begin(), device.ports().end(),
                     [&](const Port& port) { return HasGidFrom(port, netdev); });
}

double RateGbps(const Device& device) {
  double active = 0;
  double any = 0;
  for (const Port& port : device.ports()) {
    any = std::max(any, port.rate_gbps());
    if (IsActive(port)) active = std::max(active, port.rate_gbps());
  }
  return active > 0 ? active : any;
}

}  // namespace farcall::node
