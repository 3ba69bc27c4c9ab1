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
bool ReadNumber(const std::string& path, Number& to) {
  std::ifstream file(path);
  long number = 0;
  if (!(file >> std::setbase(0) >> number)) return false;
  to = static_cast<Number>(number);
  return true;
}

// Without the bit that says whether the port is a full member of the partition.
constexpr uint16_t PartitionOf(uint16_t key) { return key & 0x7fff; }

// `keys`: the folder with the port's table, a file for each place.
void ReadPartition(const std::string& keys, uint16_t wanted, DevicePort& port) {
  for (uint16_t index = 0;; ++index) {
    uint16_t key = 0;
    const bool there = ReadNumber(absl::StrCat(keys, index), key);
    if (wanted == 0 || (there && PartitionOf(key) == PartitionOf(wanted))) {
      port.partition = key;
      port.partition_index = index;
      return;
    }
    // The table has at most 2^16 places; those that are not used have the key 0.
    if (!there || index == UINT16_MAX) break;
  }
  port.partition = 0;
  port.partition_index.reset();
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

void ReadPlace(const std::string& sys_class, uint16_t wanted, DeviceInfo& info) {
  const std::string device = absl::StrCat(sys_class, "/infiniband/", info.name);
  ReadNumber(device + "/device/numa_node", info.numa_node);
  for (DevicePort& port : info.ports) {
    const std::string keys = absl::StrCat(device, "/ports/", port.number, "/pkeys/");
    ReadPartition(keys, port.link_layer == LinkLayer::kInfiniBand ? wanted : 0, port);
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
