// SPDX-License-Identifier: Apache-2.0
//
// Shelf: the free blocks of one size class. Each thread takes from and puts to one
// of a few shards; batches go between the shards and a shared list, so that a
// thread that only takes lives on what a thread that only puts has put.

#ifndef FARCALL_TRANSPORT_BUFFER_SHELF_H_
#define FARCALL_TRANSPORT_BUFFER_SHELF_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "transport/base/threads/quick_lock.h"
#include "transport/buffer/block.h"
#include "transport/buffer/block_list.h"

namespace farcall {

// Any thread.
class Shelf {
 public:
  // Up to this many threads do not meet.
  static constexpr size_t kShards = 16;

  struct Counts {
    size_t free = 0;
    size_t in_shards = 0;  // of the free ones, those that are not on the shared list
    uint64_t taken = 0;    // Take calls that got a block
  };

  // `batch`: blocks that move at once. A shard keeps at most twice as many.
  explicit Shelf(size_t batch) : batch_(batch) {}

  // Null only if there was a moment in which no block was free, wherever it lay.
  Block* Take();
  void Put(Block& block);
  // `count` fresh blocks, linked from `first` to `last`.
  void Add(Block& first, Block& last, size_t count);
  // Of one moment.
  Counts counts() const;

 private:
  // A cache line of its own.
  struct alignas(64) Shard {
    mutable QuickLock lock;
    BlockList free;
    uint64_t taken = 0;
  };

  using AllLocks = std::array<std::unique_lock<QuickLock>, kShards>;

  Shard& OwnShard();
  AllLocks LockShards() const;
  Block* Refill(Shard& own);
  void Steal(Shard& own);
  void GiveBack(Shard& own);

  const size_t batch_;
  std::array<Shard, kShards> shards_;
  // Held, before any shard's, whenever a block goes from one list to another, and by
  // who holds more than one shard's. So who holds it and all shards sees every free block.
  alignas(64) mutable std::mutex mutex_;
  BlockList shared_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BUFFER_SHELF_H_
