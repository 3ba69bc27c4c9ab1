// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BUFFER_POOL_WATCH_H_
#define FARCALL_TRANSPORT_BUFFER_POOL_WATCH_H_

#include <cstdint>

#include "transport/buffer/block_pool.h"

namespace farcall {

// Whether memory is short: more than half of a pool is in use. For the data path: it is not while
// no more than half is mapped; else looking takes every lock of the pool, so it is done with one
// question in kEach. One thread at a time.
class PoolWatch {
 public:
  static constexpr uint32_t kEach = 32;

  // `pool` outlives this.
  explicit PoolWatch(const BlockPool& pool) : pool_(pool), half_(pool.stats().max_bytes / 2) {}

  bool IsShort() {
    if (pool_.mapped_bytes() <= half_) return false;
    if (asked_++ % kEach == 0) short_ = pool_.stats().used_bytes > half_;
    return short_;
  }

 private:
  const BlockPool& pool_;
  const uint64_t half_;
  uint32_t asked_ = 0;
  bool short_ = false;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BUFFER_POOL_WATCH_H_
