// SPDX-License-Identifier: Apache-2.0

#include "transport/buffer/shelf.h"

#include <algorithm>

#include "transport/base/threads/thread_slot.h"

namespace farcall {

Shelf::Shard& Shelf::OwnShard() { return shards_[ThreadSlot() % kShards]; }

Block* Shelf::Take() {
  Shard& own = OwnShard();
  {
    const std::lock_guard lock(own.lock);
    if (Block* const block = own.free.Pop(); block != nullptr) {
      ++own.taken;
      return block;
    }
  }
  return Refill(own);
}

void Shelf::Put(Block& block) {
  Shard& own = OwnShard();
  bool too_many = false;
  {
    const std::lock_guard lock(own.lock);
    own.free.Push(block);
    too_many = own.free.size() > 2 * batch_;
  }
  if (too_many) GiveBack(own);
}

void Shelf::Add(Block& first, Block& last, size_t count) {
  const std::lock_guard lock(mutex_);
  shared_.PushChain(first, last, count);
}

Shelf::Counts Shelf::counts() const {
  const std::lock_guard lock(mutex_);
  const AllLocks locks = LockShards();
  Counts counts;
  for (const Shard& shard : shards_) {
    counts.in_shards += shard.free.size();
    counts.taken += shard.taken;
  }
  counts.free = counts.in_shards + shared_.size();
  return counts;
}

// With mutex_ held.
Shelf::AllLocks Shelf::LockShards() const {
  AllLocks locks;
  for (size_t i = 0; i < kShards; ++i) locks[i] = std::unique_lock(shards_[i].lock);
  return locks;
}

Block* Shelf::Refill(Shard& own) {
  const std::lock_guard lock(mutex_);
  const auto pop = [&own] {
    Block* const block = own.free.Pop();
    if (block != nullptr) ++own.taken;
    return block;
  };
  if (!shared_.empty()) {
    const std::lock_guard own_lock(own.lock);
    shared_.MoveTo(own.free, batch_);
    return pop();
  }
  // All shards at once: one after the other, a block could go from one that is still to
  // be looked at to one that was looked at already.
  const AllLocks locks = LockShards();
  if (own.free.empty()) Steal(own);
  return pop();
}

// Half of what the next shard has that has any: its thread may need some too. With
// all locks held.
void Shelf::Steal(Shard& own) {
  const auto start = static_cast<size_t>(&own - shards_.data());
  for (size_t i = 1; i < kShards && own.free.empty(); ++i) {
    Shard& victim = shards_[(start + i) % kShards];
    victim.free.MoveTo(own.free, std::min(batch_, (victim.free.size() + 1) / 2));
  }
}

void Shelf::GiveBack(Shard& own) {
  const std::lock_guard lock(mutex_);
  const std::lock_guard own_lock(own.lock);
  if (own.free.size() > 2 * batch_) own.free.MoveTo(shared_, batch_);
}

}  // namespace farcall
