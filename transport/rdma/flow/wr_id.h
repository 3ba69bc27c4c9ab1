// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_FLOW_WR_ID_H_
#define FARCALL_TRANSPORT_RDMA_FLOW_WR_ID_H_

#include <cstdint>

#include "transport/base/check.h"

namespace farcall {

// What a work request is for, in its 64-bit wr_id and so in its completion. Never a
// pointer: a completion may come when the connection is gone, and is then known by its
// generation and dropped.
struct WrId {
  enum class Kind : uint8_t {
    kNone = 0,        // no work request of ours: a completion with it is an error
    kSend = 1,        // slot: SendPlan::seq
    kReceive = 2,     // slot: index of the block in its receive queue
    kDrain = 3,       // the last of a queue that is being taken down; slot unused
    kBind = 4,        // slot: of the MemoryWindowRing; completes by itself only in error
    kInvalidate = 5,  // slot: of the MemoryWindowRing
    kRead = 6,        // slot unused: they complete in order
  };
  static constexpr uint32_t kGenerations = 1 << 24;

  Kind kind = Kind::kNone;
  // Which user of the queue or of the queue pair's number posted it; below kGenerations,
  // counted up modulo that.
  uint32_t generation = 0;
  uint32_t slot = 0;

  bool operator==(const WrId&) const = default;
};

//   63 .. 56 kind | 55 .. 32 generation | 31 .. 0 slot
inline uint64_t PackWrId(const WrId& id) {
  Check(id.generation < WrId::kGenerations, "a generation fits its 24 bits");
  return static_cast<uint64_t>(id.kind) << 56 | static_cast<uint64_t>(id.generation) << 32 |
         id.slot;
}

// kNone for what PackWrId did not make.
constexpr WrId UnpackWrId(uint64_t packed) {
  const uint64_t kind = packed >> 56;
  if (kind > static_cast<uint64_t>(WrId::Kind::kRead)) return {};
  return {.kind = static_cast<WrId::Kind>(kind),
          .generation = static_cast<uint32_t>(packed >> 32) % WrId::kGenerations,
          .slot = static_cast<uint32_t>(packed)};
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_FLOW_WR_ID_H_
