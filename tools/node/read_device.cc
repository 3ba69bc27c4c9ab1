// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tools/node/inventory.h"
#include "tools/node/parse.h"
#include "tools/node/readers.h"

namespace farcall::node {
namespace {

constexpr char kClass[] = "sys/class/infiniband/";

// What "rxe" and "siw" call themselves (drivers/infiniband/sw), before anybody gives them other
// names; only rxe has a file `parent`.
void ReadSoftware(const SysFiles& files, const std::string& path, Device& device) {
  const auto parent = files.Read(path + "/parent");
  const std::string& description = device.node_desc();
  if (absl::StartsWith(device.name(), "rxe") || description == "rxe" || parent) {
    device.set_software("rxe");
  } else if (absl::StartsWith(device.name(), "siw") ||
             absl::StartsWith(description, "Software iWARP")) {
    device.set_software("siw");
  }
  if (parent) device.set_parent(*parent);
}

// siw tells its network device nowhere, but for the address in its GID.
void FindParentByAddress(const SysFiles& files, Device& device) {
  if (device.software() != "siw" || device.has_parent()) return;
  if (device.ports_size() == 0 || device.ports(0).gids_size() == 0) return;
  const std::string mac = MacInGid(device.ports(0).gids(0).gid());
  for (const std::string& name : files.List("sys/class/net")) {
    const std::string path = absl::StrCat("sys/class/net/", name);
    if (mac.empty() || files.Read(path + "/address") != mac) continue;
    device.set_parent(name);
    return;
  }
}

// The entry of a class whose file `ibdev` names the device: "uverbs0".
std::string CharDeviceOf(const SysFiles& files, const std::string& path, absl::string_view device,
                         absl::string_view prefix) {
  for (const std::string& name : files.List(path)) {
    if (!absl::StartsWith(name, prefix)) continue;
    if (files.Read(absl::StrCat(path, "/", name, "/ibdev")) == device) return name;
  }
  return "";
}

void ReadTexts(const SysFiles& files, const std::string& path, Device& device) {
  const auto text = [&](absl::string_view file) {
    return files.Read(absl::StrCat(path, "/", file));
  };
  if (const auto type = text("node_type")) device.set_node_type(*type);
  if (const auto description = text("node_desc")) device.set_node_desc(*description);
  if (const auto guid = text("node_guid")) device.set_node_guid(*guid);
  if (const auto guid = text("sys_image_guid")) device.set_sys_image_guid(*guid);
  if (const auto version = text("fw_ver")) device.set_fw_ver(*version);
  if (const auto board = text("board_id")) device.set_board_id(*board);
  if (const auto type = text("hca_type")) device.set_hca_type(*type);
}

void ReadCharDevices(const SysFiles& files, Device& device) {
  const std::string uverbs =
      CharDeviceOf(files, "sys/class/infiniband_verbs", device.name(), "uverbs");
  if (!uverbs.empty()) device.set_uverbs(uverbs);
  const std::string umad = CharDeviceOf(files, "sys/class/infiniband_mad", device.name(), "umad");
  if (!umad.empty()) device.set_umad(umad);
}

}  // namespace

void ReadDevice(const SysFiles& files, const std::string& name, bool with_counters,
                Inventory& inventory) {
  const std::string path = absl::StrCat(kClass, name);
  Device& device = *inventory.add_devices();
  device.set_name(name);
  ReadTexts(files, path, device);
  ReadSoftware(files, path, device);
  ReadCharDevices(files, device);
  Pci pci;
  const bool below = ReadPci(files, path + "/device", pci);
  // Some kernels put a software device below the network device's own, with its links.
  if (device.has_software()) {
    if (below) *device.mutable_below() = pci;
  } else {
    if (below) *device.mutable_pci() = pci;
    for (const std::string& netdev : files.List(path + "/device/net")) device.add_netdevs(netdev);
  }
  std::vector<std::string> ports = files.List(path + "/ports");
  std::sort(ports.begin(), ports.end(), NaturalLess);
  for (const std::string& entry : ports) {
    uint32_t number = 0;
    if (!absl::SimpleAtoi(entry, &number)) continue;
    ReadPort(files, name, number, with_counters, inventory, *device.add_ports());
  }
  FindParentByAddress(files, device);
  if (!with_counters) return;
  ReadCounters(files, path + "/hw_counters", inventory, *device.mutable_hw_counters());
}

}  // namespace farcall::node
