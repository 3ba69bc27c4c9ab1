// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_DEVICE_LOCAL_PORT_H_
#define FARCALL_TRANSPORT_RDMA_DEVICE_LOCAL_PORT_H_

#include <cstdint>
#include <vector>

#include "transport/rdma/device/device.h"
#include "transport/rdma/device/local_addresses.h"
#include "transport/upgrade.h"

namespace farcall {

// A port of a device of this host, and one of its GIDs.
struct LocalPort {
  ibv_context* context = nullptr;
  uint8_t number = 0;      // of the port
  uint32_t gid_index = 0;  // in the port's table
  uint16_t partition_index = 0;
  LinkLayer link_layer = LinkLayer::kUnknown;
  bool needs_route_header = false;  // as DevicePort
  FabricPort port;
  Address address = {};  // the GID as an IP address
};

// The ports of `info` that queue pairs can be set up on without rdma_cm, each with every GID that
// may serve, the best first: RoCE v2 (IP packets, which are routed) before v1 (Ethernet only),
// addresses that are routed before link-local ones, then the lower index. iWARP has none: there
// the kernel's connection manager makes the TCP connection that is the queue pair's.
std::vector<LocalPort> LocalPorts(const DeviceInfo& info, ibv_context* context);

// Those with an address of this namespace before the others: a device's table has the GIDs of all
// its interfaces, in whatever namespace.
void PutOwnFirst(const std::vector<LocalIp>& own, std::vector<LocalPort>& ports);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_DEVICE_LOCAL_PORT_H_
