// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BUFFER_BLOCK_SIZE_H_
#define FARCALL_TRANSPORT_BUFFER_BLOCK_SIZE_H_

#include <cstddef>
#include <cstdint>

#include "transport/buffer/block_pool.h"

namespace farcall {

// The size of block for the next piece of `bytes` to be written: few pieces, but a
// large block only where at least half of it is filled.
constexpr uint32_t BlockSizeFor(size_t bytes) {
  if (bytes <= BlockPool::kSmall) return BlockPool::kSmall;
  if (bytes < BlockPool::kLarge / 2) return BlockPool::kMedium;
  return BlockPool::kLarge;
}

// A block of that size, or of the next smaller one that the pool still has. Null: it
// has none.
inline BlockRef AllocateFor(size_t bytes, BlockPool& pool) {
  const uint32_t best = BlockSizeFor(bytes);
  BlockRef block = pool.Allocate(best);
  if (!block && best == BlockPool::kLarge) block = pool.Allocate(BlockPool::kMedium);
  if (!block && best != BlockPool::kSmall) block = pool.Allocate(BlockPool::kSmall);
  return block;
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BUFFER_BLOCK_SIZE_H_
