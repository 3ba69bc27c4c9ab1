// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/device/local_port.h"

#include <algorithm>
#include <optional>

namespace farcall {
namespace {

using Gid = std::array<uint8_t, 16>;

bool IsLinkLocal(const Gid& gid) { return gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80; }

// The lower, the better.
int RankOf(const LocalPort& port) {
  return (port.port.type == GidType::kRoceV2 ? 0 : 2) + (IsLinkLocal(port.port.gid) ? 1 : 0);
}

std::optional<GidType> TypeOf(ibv_gid_type type) {
  switch (type) {
    case IBV_GID_TYPE_IB:
      return GidType::kInfiniBand;
    case IBV_GID_TYPE_ROCE_V1:
      return GidType::kRoceV1;
    case IBV_GID_TYPE_ROCE_V2:
      return GidType::kRoceV2;
  }
  return std::nullopt;
}

}  // namespace

std::vector<LocalPort> LocalPorts(const DeviceInfo& info, ibv_context* context) {
  std::vector<LocalPort> ports;
  for (const DevicePort& port : info.ports) {
    const bool infiniband = port.link_layer == LinkLayer::kInfiniBand;
    if (!port.active || port.active_mtu == 0 || !port.partition_index ||
        (infiniband ? port.lid == 0 : port.link_layer != LinkLayer::kRoce)) {
      continue;
    }
    for (const DeviceGid& gid : info.gids) {
      const auto type = TypeOf(gid.type);
      // ibv_ah_attr has 8 bits for the index.
      if (gid.port != port.number || !type || gid.bytes == Gid{} || gid.index > 255) continue;
      if ((*type == GidType::kInfiniBand) != infiniband) continue;
      ports.push_back({context,
                       port.number,
                       gid.index,
                       *port.partition_index,
                       port.link_layer,
                       port.needs_route_header,
                       {gid.bytes, *type, port.lid, port.active_mtu},
                       gid.address});
    }
  }
  std::stable_sort(ports.begin(), ports.end(), [](const LocalPort& one, const LocalPort& other) {
    return RankOf(one) < RankOf(other);
  });
  return ports;
}

void PutOwnFirst(const std::vector<LocalIp>& own, std::vector<LocalPort>& ports) {
  std::stable_partition(ports.begin(), ports.end(), [&](const LocalPort& port) {
    return std::any_of(own.begin(), own.end(),
                       [&](const LocalIp& ip) { return ip.address == port.address; });
  });
}

}  // namespace farcall
