// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BUFFER_SLICE_LIST_H_
#define FARCALL_TRANSPORT_BUFFER_SLICE_LIST_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "absl/strings/string_view.h"
#include "transport/base/check.h"
#include "transport/buffer/block.h"

namespace farcall {

// Some bytes of a block.
struct BufferSlice {
  BlockRef block;
  uint32_t offset = 0;
  uint32_t length = 0;  // > 0 inside a Buffer

  absl::string_view view() const { return {block->bytes() + offset, length}; }
  std::span<const std::byte> bytes() const {
    return std::as_bytes(std::span(block->bytes() + offset, length));
  }
};

// A queue of slices: two of them without memory of its own, which is most Buffers. Made
// because Buffers are moved some ten times for each message, and moving a general vector
// took a sixth of all instructions of a small call: here it costs a few loads and stores.
// Slices are relocated as bytes, which their only member with a constructor, a pointer,
// bears. Each relocated slice is paid for by one that was added or spent. One thread at a time.
class SliceList {
 public:
  SliceList() = default;
  SliceList(SliceList&& other) noexcept { Take(other); }
  SliceList& operator=(SliceList&& other) noexcept {
    if (this == &other) return *this;
    if (in_use()) Reset();
    Take(other);
    return *this;
  }
  ~SliceList() {
    if (in_use()) Reset();
  }

  size_t size() const { return end_ - head_; }
  bool empty() const { return end_ == head_; }
  // It has grown before, and has room without an allocation.
  bool keeps_memory() const { return heap_ != nullptr; }
  BufferSlice& front() { return data()[head_]; }
  BufferSlice& back() { return data()[end_ - 1]; }
  BufferSlice& operator[](size_t i) { return data()[head_ + i]; }
  std::span<const BufferSlice> all() const { return {data() + head_, size()}; }

  void push_back(BufferSlice slice) {
    if (end_ == capacity_) [[unlikely]]
      MakeRoom();
    std::construct_at(data() + end_, std::move(slice));
    ++end_;
  }
  void pop_front() {
    std::destroy_at(data() + head_);
    if (++head_ == end_) Emptied();
  }

 private:
  static constexpr uint32_t kInline = 2;
  // An empty list keeps memory for up to this many, for its next use.
  static constexpr uint32_t kKept = 64;

  BufferSlice* data() { return heap_ != nullptr ? heap_ : reinterpret_cast<BufferSlice*>(inline_); }
  const BufferSlice* data() const {
    return heap_ != nullptr ? heap_ : reinterpret_cast<const BufferSlice*>(inline_);
  }

  // Most Buffers are moved from, or were never filled, when they end: that costs two loads.
  bool in_use() const { return end_ != 0 || heap_ != nullptr; }

  // This is empty and has no memory; `other` is so afterwards.
  void Take(SliceList& other) {
    heap_ = std::exchange(other.heap_, nullptr);
    capacity_ = std::exchange(other.capacity_, kInline);
    head_ = std::exchange(other.head_, 0);
    end_ = std::exchange(other.end_, 0);
    if (heap_ == nullptr && end_ != head_) std::memcpy(inline_, other.inline_, sizeof(inline_));
  }

  void Emptied() {
    head_ = 0;
    end_ = 0;
    if (capacity_ > kKept) FreeHeap();
  }

  // Not here, so that what is here is inlined.
  void Reset();

  void FreeHeap() {
    if (heap_ == nullptr) return;
    std::allocator<BufferSlice>().deallocate(heap_, capacity_);
    heap_ = nullptr;
    capacity_ = kInline;
  }

  // Uses the spent front again if that is half of the queue, else grows.
  void MakeRoom();

  BufferSlice* heap_ = nullptr;
  uint32_t capacity_ = kInline;
  uint32_t head_ = 0;
  uint32_t end_ = 0;
  // All of it is copied when one slice is in use.
  alignas(BufferSlice) std::byte inline_[kInline * sizeof(BufferSlice)] = {};
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BUFFER_SLICE_LIST_H_
