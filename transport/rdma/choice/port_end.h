// SPDX-License-Identifier: Apache-2.0
//
// What the choice of an adapter knows of the ports of both hosts: plain values.

#ifndef FARCALL_TRANSPORT_RDMA_CHOICE_PORT_END_H_
#define FARCALL_TRANSPORT_RDMA_CHOICE_PORT_END_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "transport/address.h"
#include "transport/fabric_port.h"

namespace farcall {

// A port of a device, by one of the names under which the other host may reach it: an IP address,
// for rdma_cm, or a GID, for set-up over TCP. A port may have several ends.
struct PortEnd {
  std::string device;
  LinkLayer link_layer = LinkLayer::kUnknown;
  std::optional<GidType> gid;      // of what type; none: `name` is an IP address
  std::array<uint8_t, 16> name{};  // an IPv4 address as ::ffff:a.b.c.d
  uint16_t partition = 0;          // the key of set-up over TCP; 0: unknown
  uint32_t rate = 0;               // Mb/s; 0: unknown
  // That use the port at this end of theirs. None: unknown.
  std::optional<uint32_t> connections;
};

// Of the host that chooses.
struct OwnEnd : PortEnd {
  // The port is active, and the device may be used. Else only the name counts: it is of this host.
  bool usable = true;
  uint8_t port = 1;
  int prefix_bits = 0;  // of `name`, that all in its network share; 0: not known
  int numa_node = -1;   // of the device; -1: unknown
  // Of several ends of a port, the lower is preferred.
  uint32_t preference = 0;
};

// Of the other host.
struct OfferedEnd : PortEnd {
  // Its place in what was offered: where connections are known, the first is the one that the
  // server would have.
  uint32_t turn = 0;
};

// An IP address as the name of an end.
inline std::array<uint8_t, 16> NameOf(const Address& address) {
  if (address.family() == AddressFamily::kIpv6) return address.ip();
  std::array<uint8_t, 16> name{};
  name[10] = name[11] = 0xff;
  std::copy_n(address.ip().begin(), 4, name.begin() + 12);
  return name;
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_CHOICE_PORT_END_H_
