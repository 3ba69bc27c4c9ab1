// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/node/inventory.h"
#include "tools/node/parse.h"
#include "tools/node/readers.h"

namespace farcall::node {
namespace {

constexpr char kNetClass[] = "sys/class/net/";

std::vector<std::string> BondMembers(const SysFiles& files, const std::string& path) {
  const std::string text = files.Read(path + "/bonding/slaves").value_or("");
  return absl::StrSplit(text, ' ', absl::SkipEmpty());
}

// What the RDMA devices name, their masters, and the members of those that are bonds.
std::set<std::string> NamedByDevices(const SysFiles& files, const Inventory& inventory) {
  std::set<std::string> names;
  for (const Device& device : inventory.devices()) {
    names.insert(device.netdevs().begin(), device.netdevs().end());
    if (device.has_parent()) names.insert(device.parent());
    for (const Port& port : device.ports()) {
      for (const Gid& gid : port.gids()) {
        if (gid.has_netdev()) names.insert(gid.netdev());
      }
    }
  }
  for (const std::string& name : std::set<std::string>(names)) {
    if (const auto master = files.LinkName(absl::StrCat(kNetClass, name, "/master"))) {
      names.insert(*master);
    }
  }
  for (const std::string& name : std::set<std::string>(names)) {
    const std::vector<std::string> members = BondMembers(files, kNetClass + name);
    names.insert(members.begin(), members.end());
  }
  return names;
}

void ReadLink(const SysFiles& files, const std::string& path, Netdev& netdev) {
  const auto text = [&](absl::string_view file) {
    return files.Read(absl::StrCat(path, "/", file));
  };
  const auto number = [&](absl::string_view file) { return ParseNumber(text(file).value_or("")); };
  if (const auto type = number("type")) netdev.set_type(static_cast<uint32_t>(*type));
  if (const auto mac = text("address")) netdev.set_mac(*mac);
  if (const auto mtu = number("mtu")) netdev.set_mtu(static_cast<uint32_t>(*mtu));
  if (const auto carrier = number("carrier")) netdev.set_carrier(*carrier != 0);
  if (const auto state = text("operstate")) netdev.set_operstate(*state);
  // Unknown is -1, or 2^32 - 1 of some drivers.
  const auto speed = number("speed");
  if (speed && *speed > 0 && *speed < 100'000'000) {
    netdev.set_speed_mbps(static_cast<int32_t>(*speed));
  }
  if (const auto name = text("phys_port_name")) netdev.set_phys_port_name(*name);
}

void ReadQos(const SysFiles& files, const std::string& path, Netdev& netdev) {
  if (const auto trust = files.Read(path + "/qos/trust")) netdev.set_qos_trust(*trust);
  if (const auto pfc = files.Read(path + "/qos/pfc")) netdev.set_qos_pfc(*pfc);
  const auto enabled = [&](const char* point, auto add) {
    for (uint32_t priority = 0; priority < 8; ++priority) {
      const auto on = files.Read(absl::StrCat(path, "/ecn/", point, "/enable/", priority));
      if (on) netdev.set_ecn_files(true);
      if (on == "1") add(priority);
    }
  };
  enabled("roce_np", [&](uint32_t priority) { netdev.add_ecn_np_priorities(priority); });
  enabled("roce_rp", [&](uint32_t priority) { netdev.add_ecn_rp_priorities(priority); });
}

void ReadNetdev(const SysFiles& files, const std::string& name, Netdev& netdev) {
  const std::string path = kNetClass + name;
  netdev.set_name(name);
  ReadLink(files, path, netdev);
  ReadQos(files, path, netdev);
  if (const auto master = files.LinkName(path + "/master")) netdev.set_master(*master);
  Pci pci;
  if (ReadPci(files, path + "/device", pci)) *netdev.mutable_pci() = pci;
  if (const auto mode = files.Read(path + "/bonding/mode")) netdev.set_bond_mode(*mode);
  for (const std::string& member : BondMembers(files, path)) netdev.add_bond_members(member);
}

}  // namespace

void ReadNetdevs(const SysFiles& files, Inventory& inventory) {
  const std::set<std::string> named = NamedByDevices(files, inventory);
  const std::vector<std::string> defaults =
      DefaultRouteInterfaces(files.Read("proc/net/route").value_or(""));
  for (const std::string& name : files.List("sys/class/net")) {
    const auto under = files.LinkName(absl::StrCat(kNetClass, name, "/device"));
    const bool is_pci = under && IsPciAddress(*under);
    // Those of IPoIB may lie below no device, as a partition's that was moved into a pod.
    const bool ipoib = files.Read(absl::StrCat(kNetClass, name, "/type")) == "32";
    if (!is_pci && !ipoib && named.count(name) == 0) continue;
    if (static_cast<size_t>(inventory.netdevs_size()) == kMaxNetdevs) {
      inventory.add_cut(absl::StrCat("/sys/class/net: only the first ", kMaxNetdevs));
      return;
    }
    Netdev& netdev = *inventory.add_netdevs();
    ReadNetdev(files, name, netdev);
    if (std::count(defaults.begin(), defaults.end(), name) > 0) netdev.set_default_route(true);
  }
}

}  // namespace farcall::node
