// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_FLOW_WR_ID_H_
#define FARCALL_TRANSPORT_RDMA_FLOW_WR_ID_H_

#include <cstdint>

namespace farcall {

// What a work request is for, in its 64-bit wr_id and so in its completion. Never a
// pointer: a completion may come when the connection is gone.
struct WrId {
  enum class Kind : uint8_t {
    kNone = 0,        // no work request of ours: a completion with it is an error
    kSend = 1,        // slot: SendPlan::seq
    kReceive = 2,     // slot: index of the block in the shared receive queue
    kBind = 3,        // slot: of the MemoryWindowRing; completes by itself only in error
    kInvalidate = 4,  // slot: of the MemoryWindowRing
    kRead = 5,        // slot unused: they complete in order
    kOwnReceive = 6,  // as kReceive, in the receive queue of the queue pair
  };

  Kind kind = Kind::kNone;
  uint32_t slot = 0;

  bool is_receive() const { return kind == Kind::kReceive || kind == Kind::kOwnReceive; }
  bool operator==(const WrId&) const = default;
};

//   63 .. 56 kind | 55 .. 32 zero | 31 .. 0 slot
constexpr uint64_t PackWrId(const WrId& id) {
  return static_cast<uint64_t>(id.kind) << 56 | id.slot;
}

// kNone for what PackWrId did not make.
constexpr WrId UnpackWrId(uint64_t packed) {
  const uint64_t kind = packed >> 56;
  const bool zero = (packed << 8 >> 40) == 0;
  if (kind > static_cast<uint64_t>(WrId::Kind::kOwnReceive) || !zero) return {};
  return {.kind = static_cast<WrId::Kind>(kind), .slot = static_cast<uint32_t>(packed)};
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_FLOW_WR_ID_H_
