// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_DEVICE_LOCAL_ADDRESSES_H_
#define FARCALL_TRANSPORT_RDMA_DEVICE_LOCAL_ADDRESSES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "transport/address.h"

namespace farcall {

// Whether a peer on another host can mean this one by it: an IP address that is neither
// loopback (127/8, ::1) nor link-local (169.254/16, fe80::/10), whose scope it cannot know.
bool ReachableByPeers(const Address& address);

struct LocalIp {
  Address address;  // port 0
  std::string interface;
  uint32_t interface_index = 0;
  int prefix_bits = 0;                 // of the address's network; 0: not known
  std::vector<uint8_t> hardware = {};  // of the interface: 6 bytes of Ethernet, 20 of InfiniBand
};

// The IP addresses of this network namespace at which a peer may reach it: those of
// interfaces that are up and not loopback, getifaddrs(3), in its order. Any thread; tens of
// microseconds. An error: they could not be read, for want of descriptors or memory.
absl::StatusOr<std::vector<LocalIp>> LocalAddresses();

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_DEVICE_LOCAL_ADDRESSES_H_
