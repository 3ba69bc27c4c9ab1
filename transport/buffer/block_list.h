// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BUFFER_BLOCK_LIST_H_
#define FARCALL_TRANSPORT_BUFFER_BLOCK_LIST_H_

#include <cstddef>

#include "transport/buffer/block.h"

namespace farcall {

// Free blocks, linked by Block::next, last in first out: the block that comes next
// is the one whose bytes are most likely still in a cache. Owns nothing; one thread
// at a time.
class BlockList {
 public:
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  void Push(Block& block) {
    block.next = first_;
    first_ = &block;
    ++size_;
  }
  // Null: the list is empty.
  Block* Pop() {
    Block* const block = first_;
    if (block == nullptr) return nullptr;
    first_ = block->next;
    block->next = nullptr;
    --size_;
    return block;
  }
  // `count` blocks, linked from `first` to `last` already.
  void PushChain(Block& first, Block& last, size_t count) {
    last.next = first_;
    first_ = &first;
    size_ += count;
  }
  // Moves at most `count` blocks to `other`.
  void MoveTo(BlockList& other, size_t count) {
    for (; count > 0 && !empty(); --count) other.Push(*Pop());
  }

 private:
  Block* first_ = nullptr;
  size_t size_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BUFFER_BLOCK_LIST_H_
