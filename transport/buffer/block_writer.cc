// SPDX-License-Identifier: Apache-2.0

#include "transport/buffer/block_writer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "transport/buffer/block_size.h"

namespace farcall {

bool BlockWriter::Append(absl::string_view bytes, Buffer& out) {
  if (bytes.empty()) return true;
  if (block_.unique()) Rewind();
  uint32_t room = block_ ? block_->capacity - used_ : 0;
  if (room == 0 && bytes.size() <= BlockPool::kSmall) {
    if (!TakeFresh()) return false;
    room = block_->capacity;
  }
  if (bytes.size() > room) return AppendAcross(bytes, room, out);
  const auto length = static_cast<uint32_t>(bytes.size());
  std::memcpy(block_->bytes() + used_, bytes.data(), length);
  out.Append(block_, used_, length);
  used_ += length;
  return true;
}

// What was left of the block before stays unused.
bool BlockWriter::TakeFresh() {
  BlockRef fresh = pool_.Allocate(BlockPool::kSmall);
  if (!fresh) return false;
  block_ = std::move(fresh);
  used_ = 0;
  return true;
}

// Everything that was written has left: a small block is written from its start again, a
// larger one goes home, so that a writer at rest pins little.
void BlockWriter::Rewind() {
  used_ = 0;
  if (block_->capacity > BlockPool::kSmall) block_ = BlockRef();
}

// Nothing of this writer or `out` changes before all blocks are there.
bool BlockWriter::AppendAcross(absl::string_view bytes, uint32_t room, Buffer& out) {
  Buffer fresh;
  BlockRef last;
  uint32_t last_used = 0;
  for (absl::string_view rest = bytes.substr(room); !rest.empty(); rest.remove_prefix(last_used)) {
    last = AllocateFor(rest.size(), pool_);
    if (!last) return false;
    last_used = static_cast<uint32_t>(std::min<size_t>(rest.size(), last->capacity));
    std::memcpy(last->bytes(), rest.data(), last_used);
    fresh.Append(last, 0, last_used);
  }
  if (room > 0) {
    std::memcpy(block_->bytes() + used_, bytes.data(), room);
    out.Append(block_, used_, room);
  }
  out.Append(std::move(fresh));
  block_ = std::move(last);
  used_ = last_used;
  return true;
}

}  // namespace farcall
