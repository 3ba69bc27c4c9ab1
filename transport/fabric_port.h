// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_FABRIC_PORT_H_
#define FARCALL_TRANSPORT_FABRIC_PORT_H_

#include <array>
#include <cstdint>

namespace farcall {

// What the ports of a device talk. The numbers travel in offers.
enum class LinkLayer : uint8_t { kUnknown = 0, kInfiniBand = 1, kRoce = 2, kIwarp = 3 };

// How packets between two ports are addressed. The numbers travel in offers.
enum class GidType : uint8_t { kInfiniBand = 0, kRoceV1 = 1, kRoceV2 = 2 };

// A port of a device, for a queue pair that is set up by messages on the first connection, without
// rdma_cm: where addresses do not lead to the device.
struct FabricPort {
  std::array<uint8_t, 16> gid{};
  GidType type = GidType::kInfiniBand;
  uint16_t lid = 0;  // of InfiniBand; 0: none
  uint32_t mtu = 0;  // bytes, 256 to 4096

  bool operator==(const FabricPort&) const = default;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_FABRIC_PORT_H_
