// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/device/device_place.h"

#include <algorithm>
#include <fstream>
#include <iomanip>
#include <vector>

#include "absl/strings/str_cat.h"

namespace farcall {
namespace {

// A number in decimal, or in hexadecimal behind 0x.
template <typename Number>
void ReadNumber(const std::string& path, Number& to) {
  std::ifstream file(path);
  long number = 0;
  if (file >> std::setbase(0) >> number) to = static_cast<Number>(number);
}

constexpr size_t kGidInHardware = 4;  // of IP over InfiniBand: behind flags and queue pair
constexpr size_t kMac = 6;

bool IsInterfaceOf(const DeviceGid& gid, LinkLayer link_layer, const LocalIp& local) {
  const std::vector<uint8_t>& hardware = local.hardware;
  switch (link_layer) {
    case LinkLayer::kRoce:
      return gid.interface_index != 0 && gid.address == local.address;
    case LinkLayer::kInfiniBand:
      return hardware.size() == kGidInHardware + gid.bytes.size() &&
             std::equal(gid.bytes.begin(), gid.bytes.end(), hardware.begin() + kGidInHardware);
    case LinkLayer::kIwarp:
      return hardware.size() == kMac &&
             std::equal(hardware.begin(), hardware.end(), gid.bytes.begin());
    case LinkLayer::kUnknown:
      break;
  }
  return false;
}

}  // namespace

void ReadPlace(const std::string& sys_class, DeviceInfo& info) {
  const std::string device = absl::StrCat(sys_class, "/infiniband/", info.name);
  ReadNumber(device + "/device/numa_node", info.numa_node);
  for (DevicePort& port : info.ports) {
    ReadNumber(absl::StrCat(device, "/ports/", port.number, "/pkeys/0"), port.partition);
  }
}

uint8_t PortWith(const DeviceInfo& info, const LocalIp& local) {
  for (const DeviceGid& gid : info.gids) {
    const auto port = std::find_if(info.ports.begin(), info.ports.end(),
                                   [&](const DevicePort& one) { return one.number == gid.port; });
    if (port != info.ports.end() && IsInterfaceOf(gid, port->link_layer, local)) return gid.port;
  }
  return 0;
}

}  // namespace farcall
