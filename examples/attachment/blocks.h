// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_EXAMPLES_ATTACHMENT_BLOCKS_H_
#define FARCALL_EXAMPLES_ATTACHMENT_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/block_writer.h"
#include "transport/buffer/buffer.h"

namespace example {

// Blocks of one size in the memory of a pool, from which a socket or an RDMA device sends them as
// they stand. A block that was read stays as it was, whatever is written meanwhile. Any thread.
class Blocks {
 public:
  // That one Read or Write may name.
  static constexpr uint32_t kMostBlocks = 256;

  // `pool` outlives this, with room for twice the bytes: what is written lies two blocks to a
  // block of the pool. All blocks are zero at first.
  Blocks(uint64_t count, uint32_t block_bytes, farcall::BlockPool& pool);

  uint64_t count() const { return blocks_.size(); }
  uint32_t block_bytes() const { return block_bytes_; }

  // Each block is read or written as a whole, several of them one after the other.
  // kOutOfRange, kInvalidArgument: not so many blocks there, or not whole ones.
  // kResourceExhausted: the pool is at its limit.
  absl::Status Write(uint64_t first, farcall::Buffer bytes);
  absl::Status Read(uint64_t first, uint32_t count, farcall::Buffer& bytes) const;

 private:
  static constexpr size_t kShards = 64;
  // Neighbours are in different shards, so that streams do not meet on one lock.
  struct Shard {
    explicit Shard(farcall::BlockPool& pool) : writer(pool) {}
    mutable std::mutex mutex;
    farcall::BlockWriter writer;  // guarded by mutex
    farcall::Buffer zeros;        // guarded by mutex
  };

  absl::Status Check(uint64_t first, uint64_t count) const;
  Shard& ShardOf(uint64_t block) const { return *shards_[block % kShards]; }

  const uint32_t block_bytes_;
  std::vector<std::unique_ptr<Shard>> shards_;
  // Guarded by the mutex of the block's shard. Empty: all zero.
  std::vector<farcall::Buffer> blocks_;
};

}  // namespace example

#endif  // FARCALL_EXAMPLES_ATTACHMENT_BLOCKS_H_
