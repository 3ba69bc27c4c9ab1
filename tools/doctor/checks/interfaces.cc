// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/checks/interfaces.h"

#include <algorithm>

#include "tools/doctor/checks/gids.h"

namespace farcall::doctor {
namespace {

constexpr uint32_t kInfiniband = 32;  // ARPHRD_INFINIBAND of <linux/if_arp.h>

bool HasAnAddress(const node::Netdev& netdev, const std::vector<OwnAddress>& own) {
  return std::any_of(own.begin(), own.end(),
                     [&](const OwnAddress& each) { return each.interface == netdev.name(); });
}

// The interface with the address that is a GID of the port: whatever it is called and whoever made
// it, the GID is its.
const node::Netdev* Used(const node::Inventory& inventory, const node::Device& device,
                         const node::Port& port, const std::vector<OwnAddress>& own) {
  for (const GidRow& row : JudgeGids(inventory, device, own)) {
    if (!row.used || row.port != port.number()) continue;
    for (const OwnAddress& each : own) {
      if (each.ip != row.address) continue;
      const node::Netdev* const netdev = node::FindNetdev(inventory, each.interface);
      if (netdev != nullptr) return netdev;
    }
  }
  return nullptr;
}

const node::Netdev* Named(const node::Inventory& inventory, const node::Device& device,
                          const node::Port& port) {
  for (const node::Gid& gid : port.gids()) {
    const node::Netdev* const netdev = node::FindNetdev(inventory, gid.netdev());
    if (netdev != nullptr && node::BelongsTo(*netdev, device)) return netdev;
  }
  return nullptr;
}

}  // namespace

bool HasInterface(const node::Inventory& inventory, const node::Device& device) {
  return std::any_of(inventory.netdevs().begin(), inventory.netdevs().end(),
                     [&](const auto& each) { return node::BelongsTo(each, device); });
}

bool HasAddress(const node::Inventory& inventory, const node::Device& device,
                const std::vector<OwnAddress>& own) {
  return std::any_of(inventory.netdevs().begin(), inventory.netdevs().end(), [&](const auto& each) {
    return node::BelongsTo(each, device) && HasAnAddress(each, own);
  });
}

bool HasIpoibAddress(const node::Inventory& inventory, const node::Device& device,
                     const std::vector<OwnAddress>& own) {
  return std::any_of(inventory.netdevs().begin(), inventory.netdevs().end(), [&](const auto& each) {
    if (each.type() != kInfiniband || !HasAnAddress(each, own)) return false;
    return each.mac().empty() || node::BelongsTo(each, device);
  });
}

const node::Netdev* InterfaceOf(const node::Inventory& inventory, const node::Device& device,
                                const node::Port& port, const std::vector<OwnAddress>& own) {
  if (const node::Netdev* const used = Used(inventory, device, port, own)) return used;
  if (const node::Netdev* const named = Named(inventory, device, port)) return named;
  for (const node::Netdev& netdev : inventory.netdevs()) {
    // The function of several ports has the interfaces of all of them.
    const bool its =
        device.ports_size() == 1 ? node::BelongsTo(netdev, device) : node::HasGidFrom(port, netdev);
    if (its) return &netdev;
  }
  return nullptr;
}

AdapterInterface AdapterInterfaceOf(const node::Inventory& inventory, const node::Device& device,
                                    const node::Port& port, const std::vector<OwnAddress>& own) {
  const node::Netdev* const top = InterfaceOf(inventory, device, port, own);
  const auto of_function = [&](const node::Netdev& netdev) {
    return device.has_pci() && netdev.pci().address() == device.pci().address();
  };
  if (top == nullptr || of_function(*top)) return {top, ""};
  for (const std::string& name : top->bond_members()) {
    const node::Netdev* const member = node::FindNetdev(inventory, name);
    if (member != nullptr && of_function(*member)) return {member, top->name()};
  }
  for (const node::Netdev& netdev : inventory.netdevs()) {
    const bool below = of_function(netdev) && node::BelongsTo(netdev, device) &&
                       (device.ports_size() == 1 || node::HasGidFrom(port, netdev));
    if (below) return {&netdev, netdev.master()};
  }
  return {top, ""};
}

}  // namespace farcall::doctor
