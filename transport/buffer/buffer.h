// SPDX-License-Identifier: Apache-2.0
//
// Buffer: bytes as an ordered list of slices of shared blocks. Cutting, joining
// and sharing move no byte.

#ifndef FARCALL_TRANSPORT_BUFFER_BUFFER_H_
#define FARCALL_TRANSPORT_BUFFER_BUFFER_H_

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "transport/buffer/block.h"
#include "transport/buffer/slice_list.h"

namespace farcall {

// Move-only; Share() is the only copy, and it copies references, not bytes.
// One thread at a time; different Buffers over the same blocks may be used by
// different threads. The bytes of a slice never change once it is in a Buffer, but by
// who alone refers to its block (WritableIovecs, CopyFrom).
class Buffer {
 public:
  using Slice = BufferSlice;

  Buffer() = default;
  // The bytes of `bytes`, copied into blocks of the ordinary heap.
  explicit Buffer(absl::string_view bytes);
  Buffer(Buffer&& other) noexcept
      : slices_(std::move(other.slices_)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    slices_ = std::move(other.slices_);
    // In this order, for who moves a Buffer into itself.
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() = default;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // At the end. A slice that continues the last one in the same block is merged with it.
  void Append(Slice slice);
  // The same; counts no reference where it merges.
  void Append(const BlockRef& block, uint32_t offset, uint32_t length) {
    if (!Continues(block, offset, length)) return AppendSlice(block, offset, length);
    slices_.back().length += length;
    size_ += length;
  }
  void Append(Buffer&& tail) {
    if (tail.size_ == 0) return;
    // Moving would lose the memory that an empty queue keeps for its next slices.
    if (size_ > 0 || slices_.keeps_memory()) return AppendSlices(tail);
    *this = std::move(tail);
  }
  // Copies into blocks of the ordinary heap: any size, any thread. What has a
  // BlockPool at hand uses a BlockWriter instead.
  void Append(absl::string_view bytes);
  // The caller's memory, without a copy. [data, data + size) must stay as it is
  // until `release` has run, once, on the thread that drops the last reference,
  // perhaps before this returns (size 0). That may be a thread that holds a loop, so
  // `release` neither blocks nor calls into connections, channels or this Buffer. At
  // most 4 GiB - 1.
  void AppendUserData(const void* data, size_t size, absl::AnyInvocable<void()> release);

  // The first `bytes` (<= size()), taken out of this Buffer.
  Buffer CutFront(size_t bytes);
  // The same, appended to `to`.
  void CutFrontTo(size_t bytes, Buffer& to) {
    // Most often a part of the first slice, and all that `to` has.
    if (!to.empty() || bytes == 0 || bytes >= size_ || slices_.front().length <= bytes) {
      return to.Append(CutFront(bytes));
    }
    const auto part = static_cast<uint32_t>(bytes);
    to.slices_.push_back(Slice{slices_.front().block, slices_.front().offset, part});
    to.size_ = bytes;
    TrimFirst(part);
  }
  void RemoveFront(size_t bytes) {  // bytes <= size()
    // Most often a part of the first slice.
    if (size_ > 0 && slices_.front().length > bytes) {
      TrimFirst(static_cast<uint32_t>(bytes));
    } else {
      RemoveSlices(bytes);
    }
  }
  void Clear() {
    if (size_ > 0) RemoveFront(size_);
  }

  // The same bytes again: references to the same blocks.
  Buffer Share() const;

  // The same as CutFront and as Share of a part, [from, from + bytes), for numbers that a peer
  // chose: kOutOfRange where there are not so many bytes, and this stays as it was.
  absl::StatusOr<Buffer> TryCutFront(size_t bytes);
  absl::StatusOr<Buffer> TrySlice(size_t from, size_t bytes) const;

  // Copies min(bytes, size() - from) bytes, from offset `from` (<= size()), to
  // `out`; returns how many.
  size_t CopyTo(void* out, size_t bytes, size_t from = 0) const;
  std::string ToString() const;
  // The first `bytes` (<= size()) in one piece: a view into the first block where
  // it holds them all, else a copy in `scratch` (room for `bytes`). Valid while
  // the Buffer keeps its front and scratch lives.
  absl::string_view Front(size_t bytes, char* scratch) const;

  // In order; valid until the Buffer is changed.
  std::span<const Slice> slices() const { return slices_.all(); }
  // The slices from offset `from` (<= size()) on, as many as `out` has room for, for pwritev,
  // sendmsg or io_uring; returns how many. The kernel takes up to 1,024 at once. What it wrote is
  // the next `from`. Valid until the Buffer is changed.
  size_t Iovecs(std::span<iovec> out, size_t from = 0) const;

  // The same for who writes the bytes, by preadv or by hand: of Runtime::AllocateBuffer, say.
  // Each slice must be all that refers to its block, since others would see the bytes change (else
  // the program ends).
  size_t WritableIovecs(std::span<iovec> out, size_t from = 0);
  // Copies `bytes` over those from offset `at` on (at + bytes <= size()), under the same rule.
  void CopyFrom(const void* in, size_t bytes, size_t at = 0);

  // Bytes of memory that are in use as long as this refers to them: all of each block of a pool,
  // however little of it is here, and no more than the slices where memory is the program's own. A
  // block that two Buffers share counts for both.
  size_t pinned_bytes() const;

 private:
  // Bytes of the last slice's block that lie behind it.
  bool Continues(const BlockRef& block, uint32_t offset, uint32_t length) {
    if (size_ == 0) return false;
    const BufferSlice& last = slices_.back();
    return last.block == block && last.offset + last.length == offset &&
           length <= block->capacity - offset;
  }
  void AppendSlice(const BlockRef& block, uint32_t offset, uint32_t length);
  void AppendSlices(Buffer& tail);
  bool Merge(const BlockRef& block, uint32_t offset, uint32_t length);
  void TrimFirst(uint32_t bytes) {  // fewer than it has
    BufferSlice& first = slices_.front();
    first.offset += bytes;
    first.length -= bytes;
    size_ -= bytes;
  }
  void RemoveSlices(size_t bytes);
  absl::Status Holds(size_t from, size_t bytes) const;

  SliceList slices_;
  size_t size_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BUFFER_BUFFER_H_
