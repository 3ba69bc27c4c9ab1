// SPDX-License-Identifier: Apache-2.0

#include "transport/buffer/heap_block.h"

#include <cstddef>
#include <new>
#include <utility>

namespace farcall {
namespace {

// The bytes follow the object. Aligned so that they are, too.
class alignas(std::max_align_t) HeapBlock final : public BlockOwner {
 public:
  static Block& Make(uint32_t bytes) {
    void* const memory = ::operator new(sizeof(HeapBlock) + bytes);
    auto* const self = new (memory) HeapBlock;
    self->block_.data = static_cast<std::byte*>(memory) + sizeof(HeapBlock);
    self->block_.capacity = bytes;
    self->block_.owner = self;
    self->block_.references.store(1, std::memory_order_relaxed);
    return self->block_;
  }

  void Recycle(Block&) override {
    this->~HeapBlock();
    ::operator delete(static_cast<void*>(this));
  }

 private:
  HeapBlock() = default;
  ~HeapBlock() = default;

  Block block_;
};

class UserBlock final : public BlockOwner {
 public:
  UserBlock(const void* data, uint32_t bytes, absl::AnyInvocable<void()> release,
            const RegionKeys* keys)
      : release_(std::move(release)) {
    block_.data = const_cast<std::byte*>(static_cast<const std::byte*>(data));
    block_.capacity = bytes;
    block_.owner = this;
    block_.keys = keys;
    block_.of_program = true;
    block_.references.store(1, std::memory_order_relaxed);
  }

  void Recycle(Block&) override {
    // The block is gone before user code runs.
    absl::AnyInvocable<void()> release = std::move(release_);
    delete this;
    if (release) release();
  }

  Block& block() { return block_; }

 private:
  ~UserBlock() = default;

  Block block_;
  absl::AnyInvocable<void()> release_;
};

}  // namespace

BlockRef NewHeapBlock(uint32_t bytes) { return BlockRef::Adopt(HeapBlock::Make(bytes)); }

BlockRef NewUserBlock(const void* data, uint32_t bytes, absl::AnyInvocable<void()> release,
                      const RegionKeys* keys) {
  return BlockRef::Adopt((new UserBlock(data, bytes, std::move(release), keys))->block());
}

}  // namespace farcall
