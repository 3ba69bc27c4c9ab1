// SPDX-License-Identifier: Apache-2.0

#include "examples/kv/value_blocks.h"

#include <algorithm>
#include <utility>

namespace example {

size_t PinnedBytes(const farcall::Buffer& value) {
  size_t bytes = 0;
  const farcall::Block* last = nullptr;
  for (const farcall::Buffer::Slice& slice : value.slices()) {
    if (slice.block.get() != last) bytes += slice.block->capacity;
    last = slice.block.get();
  }
  return bytes;
}

farcall::Buffer Tightened(farcall::Buffer value, farcall::BlockPool& pool) {
  if (PinnedBytes(value) <= 2 * value.size()) return value;
  farcall::Buffer copy;
  while (copy.size() < value.size()) {
    farcall::BlockRef block = pool.Allocate(farcall::BlockPool::kSmall);
    if (!block) return value;
    const size_t part = value.CopyTo(block->bytes(), block->capacity, copy.size());
    copy.Append(std::move(block), 0, static_cast<uint32_t>(part));
  }
  return copy;
}

}  // namespace example
