// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BRPC_END_H_
#define FARCALL_TRANSPORT_BRPC_END_H_

#include <array>
#include <cstdint>

namespace farcall {

// What one end of a queue pair on brpc's wire says of itself to the other one (transport/brpc).
struct BrpcEnd {
  // Less is refused.
  static constexpr uint32_t kMinBlock = 1024;
  static constexpr uint16_t kMinSlots = 16;
  // Receives that are kept for messages without bytes; sends, too.
  static constexpr uint16_t kBareSlots = 3;

  std::array<uint8_t, 16> gid{};
  uint16_t lid = 0;          // InfiniBand; 0 elsewhere
  uint32_t number = 0;       // of its queue pair, 1 to 2^24 - 1
  uint32_t block_bytes = 0;  // of each receive: no message to it is longer
  uint16_t send_slots = 0;
  uint16_t receive_slots = 0;  // receives that it has posted

  bool operator==(const BrpcEnd&) const = default;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BRPC_END_H_
