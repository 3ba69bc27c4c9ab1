// SPDX-License-Identifier: Apache-2.0
//
// A Block is a run of bytes with a reference count. Its header lies apart from
// its bytes, so that users' memory can be blocks too.

#ifndef FARCALL_TRANSPORT_BUFFER_BLOCK_H_
#define FARCALL_TRANSPORT_BUFFER_BLOCK_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace farcall {

struct Block;

// Where a block goes when its last reference is dropped.
class BlockOwner {
 public:
  // Any thread. `block` has no reference left; never fails.
  virtual void Recycle(Block& block) = 0;

 protected:
  ~BlockOwner() = default;
};

// The memory that a block is a part of, registered as a whole. Immutable while
// any of its blocks is referenced; null for memory that no device knows.
struct RegionKeys;

struct Block {
  std::byte* data = nullptr;
  uint32_t capacity = 0;  // bytes
  // The bytes are the program's own, by Buffer::AppendUserData or RegisteredMemory.
  bool of_program = false;
  std::atomic<uint32_t> references{0};
  BlockOwner* owner = nullptr;       // outlives the block
  const RegionKeys* keys = nullptr;  // so that posting needs no search
  Block* next = nullptr;             // the owner's, while there is no reference to the block

  char* bytes() { return reinterpret_cast<char*>(data); }
};

// One reference to a Block, or none. Any thread; one BlockRef is one thread's at
// a time, as with std::shared_ptr.
class BlockRef {
 public:
  BlockRef() = default;
  // Takes over one reference that was counted already.
  static BlockRef Adopt(Block& block) { return BlockRef(&block); }

  BlockRef(const BlockRef& other) : block_(other.block_) {
    if (block_ != nullptr) block_->references.fetch_add(1, std::memory_order_relaxed);
  }
  BlockRef(BlockRef&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  BlockRef& operator=(BlockRef other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~BlockRef() {
    if (block_ == nullptr) return;
    // The only reference needs no locked instruction: no other thread can count up.
    if (unique()) {
      block_->references.store(0, std::memory_order_relaxed);
    } else if (block_->references.fetch_sub(1, std::memory_order_acq_rel) != 1) {
      return;
    }
    block_->owner->Recycle(*block_);
  }

  explicit operator bool() const { return block_ != nullptr; }
  Block* get() const { return block_; }
  Block* operator->() const { return block_; }
  Block& operator*() const { return *block_; }
  // True: no other code can see the bytes, so they may be written.
  bool unique() const {
    return block_ != nullptr && block_->references.load(std::memory_order_acquire) == 1;
  }
  bool operator==(const BlockRef& other) const = default;

 private:
  explicit BlockRef(Block* block) : block_(block) {}
  Block* block_ = nullptr;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BUFFER_BLOCK_H_
