// SPDX-License-Identifier: Apache-2.0

#include "transport/buffer/right_sized.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/buffer/heap_block.h"

namespace farcall {
namespace {

// Of a copy on the heap: malloc need not find more than this in one piece.
constexpr size_t kHeapPiece = size_t{1} << 20;

// One of the largest class of which `bytes` fill more than half; where there is none, smaller ones
// do. Null: nothing is left.
BlockRef AllocateFitting(BlockPool& pool, size_t bytes) {
  BlockRef block;
  for (const uint32_t size : {BlockPool::kLarge, BlockPool::kMedium}) {
    if (!block && bytes > size / 2) block = pool.Allocate(size);
  }
  return block ? std::move(block) : pool.Allocate(BlockPool::kSmall);
}

bool IsRightSized(const Buffer& bytes) { return bytes.pinned_bytes() < 2 * bytes.size(); }

Buffer CopyOnHeap(const Buffer& bytes) {
  Buffer copy;
  while (copy.size() < bytes.size()) {
    const auto part = static_cast<uint32_t>(std::min(kHeapPiece, bytes.size() - copy.size()));
    BlockRef block = NewHeapBlock(part);
    bytes.CopyTo(block->bytes(), part, copy.size());
    copy.Append(Buffer::Slice{std::move(block), 0, part});
  }
  return copy;
}

}  // namespace

absl::StatusOr<Buffer> AllocateBuffer(BlockPool& pool, size_t bytes) {
  Buffer buffer;
  while (buffer.size() < bytes) {
    const size_t left = bytes - buffer.size();
    BlockRef block = AllocateFitting(pool, left);
    if (!block) {
      const BlockPoolStats stats = pool.stats();
      return absl::ResourceExhaustedError(
          absl::StrCat("no blocks for ", bytes, " bytes are left of the pool: ", stats.used_bytes,
                       " of ", stats.max_bytes, " bytes are in use; raise pool.max_bytes"));
    }
    const auto part = static_cast<uint32_t>(std::min<size_t>(left, block->capacity));
    buffer.Append(Buffer::Slice{std::move(block), 0, part});
  }
  return buffer;
}

Buffer RightSized(BlockPool& pool, Buffer bytes) {
  if (bytes.empty() || IsRightSized(bytes)) return bytes;
  if (bytes.size() <= BlockPool::kSmall / 2) return CopyOnHeap(bytes);
  absl::StatusOr<Buffer> copy = AllocateBuffer(pool, bytes.size());
  if (!copy.ok() || !IsRightSized(*copy)) return CopyOnHeap(bytes);
  size_t at = 0;
  for (const Buffer::Slice& slice : bytes.slices()) {
    copy->CopyFrom(slice.view().data(), slice.length, at);
    at += slice.length;
  }
  return *std::move(copy);
}

}  // namespace farcall
