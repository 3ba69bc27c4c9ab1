// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BUFFER_BLOCK_WRITER_H_
#define FARCALL_TRANSPORT_BUFFER_BLOCK_WRITER_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/buffer.h"

namespace farcall {

// Packs many small writes into few blocks: each write goes where the last one
// ended, so that a turn's frames leave in one piece. Between writes it keeps the
// last block. One thread at a time.
class BlockWriter {
 public:
  explicit BlockWriter(BlockPool& pool) : pool_(pool) {}

  // Appends a copy of `bytes` to `out`. False, and `out` as it was: the pool is
  // at its limit.
  bool Append(absl::string_view bytes, Buffer& out);
  // Whether the next Append finds room for so many bytes (up to BlockPool::kSmall) in one piece,
  // which is made if need be. False: the pool is at its limit.
  bool Reserve(uint32_t bytes) {
    if (block_.unique()) Rewind();
    return (block_ && block_->capacity - used_ >= bytes) || TakeFresh();
  }
  // Leaves the last block to those bytes that were written to it: who does not write for long keeps
  // none. The next write takes another one.
  void Leave() { block_ = BlockRef(); }

 private:
  bool TakeFresh();
  void Rewind();
  bool AppendAcross(absl::string_view bytes, uint32_t room, Buffer& out);

  BlockPool& pool_;  // outlives this
  BlockRef block_;   // bytes from used_ on are free
  uint32_t used_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BUFFER_BLOCK_WRITER_H_
