// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RAIL_PORTS_H_
#define FARCALL_TRANSPORT_RAIL_PORTS_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace farcall {

// Behind all Fabrics: it is not known what joins two ports.
inline constexpr int kNoFabric = 3;

// A rail of a connection: the ports at its two ends.
struct RailPorts {
  std::string own;          // PortName
  std::string peer_device;  // as the server calls it; empty: not known
  int fabric = kNoFabric;   // that joins them: a Fabric (transport/rdma/choice/fabric.h)
};

// "mlx5_0 port 1".
inline std::string PortName(absl::string_view device, uint32_t port) {
  return absl::StrCat(device, " port ", port);
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RAIL_PORTS_H_
