// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_CHANNEL_CHANNEL_COUNTERS_H_
#define FARCALL_TRANSPORT_RDMA_CHANNEL_CHANNEL_COUNTERS_H_

#include <cstdint>

#include "transport/copied_bytes.h"

namespace farcall {

// What a MessageChannel has done.
struct ChannelCounters {
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
  uint64_t receives = 0;   // completions
  uint64_t doorbells = 0;  // calls of ibv_post_send
  uint64_t messages = 0;   // that it posted
  CopiedBytes copied;
  uint64_t references = 0;  // sent
  uint64_t reads = 0;       // RDMA READs that have completed
  uint64_t fetched = 0;     // bytes that they brought
  uint64_t landed = 0;      // bytes that went to where User::PlaceFor said
  // Times that it began to wait while it had bytes to send.
  uint64_t credit_waits = 0;
  uint64_t slot_waits = 0;
  uint64_t memory_waits = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_CHANNEL_CHANNEL_COUNTERS_H_
