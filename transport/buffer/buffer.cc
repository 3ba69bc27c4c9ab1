// SPDX-License-Identifier: Apache-2.0

#include "transport/buffer/buffer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"
#include "transport/buffer/heap_block.h"

namespace farcall {
namespace {

// The most that one heap block holds: whoever keeps a slice keeps no more than this alive.
constexpr size_t kMaxHeapBlock = size_t{1} << 20;

void CheckInside(const BlockRef& block, uint32_t offset, uint32_t length) {
  Check(block && offset <= block->capacity && length <= block->capacity - offset,
        "a slice lies inside its block");
}

}  // namespace

Buffer::Buffer(absl::string_view bytes) { Append(bytes); }

void Buffer::Append(Slice slice) {
  if (Merge(slice.block, slice.offset, slice.length)) return;
  slices_.push_back(std::move(slice));
}

void Buffer::AppendSlice(const BlockRef& block, uint32_t offset, uint32_t length) {
  if (size_ == 0 && length > 0) {
    CheckInside(block, offset, length);
    size_ = length;
  } else if (Merge(block, offset, length)) {
    return;
  }
  slices_.push_back(Slice{block, offset, length});
}

void Buffer::AppendSlices(Buffer& tail) {
  Check(this != &tail, "a Buffer is not appended to itself");
  while (!tail.slices_.empty()) {
    Slice& slice = tail.slices_.front();
    if (!Merge(slice.block, slice.offset, slice.length)) slices_.push_back(std::move(slice));
    tail.slices_.pop_front();
  }
  tail.size_ = 0;
}

void Buffer::Append(absl::string_view bytes) {
  while (!bytes.empty()) {
    const auto length = static_cast<uint32_t>(std::min(bytes.size(), kMaxHeapBlock));
    BlockRef block = NewHeapBlock(length);
    std::memcpy(block->bytes(), bytes.data(), length);
    Append(Slice{std::move(block), 0, length});
    bytes.remove_prefix(length);
  }
}

void Buffer::AppendUserData(const void* data, size_t size, absl::AnyInvocable<void()> release) {
  Check(size <= std::numeric_limits<uint32_t>::max(), "user data has at most 4 GiB - 1");
  const auto length = static_cast<uint32_t>(size);
  // Without bytes there is no slice: the block is dropped here, which releases it.
  Append(Slice{NewUserBlock(data, length, std::move(release)), 0, length});
}

Buffer Buffer::CutFront(size_t bytes) {
  Check(bytes <= size_, "no more is cut off than there is");
  Buffer front;
  if (bytes == size_) {
    front = std::move(*this);
    return front;
  }
  if (bytes > 0 && slices_.front().length > bytes) {
    const Slice& first = slices_.front();
    const auto part = static_cast<uint32_t>(bytes);
    front.slices_.push_back(Slice{first.block, first.offset, part});
    front.size_ = bytes;
    TrimFirst(part);
    return front;
  }
  size_ -= bytes;
  front.size_ = bytes;
  while (bytes > 0) {
    Slice& slice = slices_.front();
    if (slice.length > bytes) {
      const auto part = static_cast<uint32_t>(bytes);
      front.slices_.push_back(Slice{slice.block, slice.offset, part});
      slice.offset += part;
      slice.length -= part;
      break;
    }
    bytes -= slice.length;
    front.slices_.push_back(std::move(slice));
    slices_.pop_front();
  }
  return front;
}

void Buffer::RemoveSlices(size_t bytes) {
  Check(bytes <= size_, "no more is removed than there is");
  size_ -= bytes;
  while (bytes > 0) {
    Slice& slice = slices_.front();
    if (slice.length > bytes) {
      slice.offset += static_cast<uint32_t>(bytes);
      slice.length -= static_cast<uint32_t>(bytes);
      break;
    }
    bytes -= slice.length;
    slices_.pop_front();
  }
}

Buffer Buffer::Share() const {
  Buffer copy;
  for (const Slice& slice : slices()) copy.slices_.push_back(slice);
  copy.size_ = size_;
  return copy;
}

absl::Status Buffer::Holds(size_t from, size_t bytes) const {
  if (from <= size_ && bytes <= size_ - from) return absl::OkStatus();
  return absl::OutOfRangeError(
      absl::StrCat(bytes, " bytes from offset ", from, " on are asked of ", size_));
}

absl::StatusOr<Buffer> Buffer::TryCutFront(size_t bytes) {
  if (absl::Status status = Holds(0, bytes); !status.ok()) return status;
  return CutFront(bytes);
}

absl::StatusOr<Buffer> Buffer::TrySlice(size_t from, size_t bytes) const {
  if (absl::Status status = Holds(from, bytes); !status.ok()) return status;
  Buffer part;
  for (const Slice& slice : slices()) {
    if (part.size_ == bytes) break;
    if (from >= slice.length) {
      from -= slice.length;
      continue;
    }
    const size_t length = std::min(bytes - part.size_, slice.length - from);
    part.Append(slice.block, slice.offset + static_cast<uint32_t>(from),
                static_cast<uint32_t>(length));
    from = 0;
  }
  return part;
}

size_t Buffer::CopyTo(void* out, size_t bytes, size_t from) const {
  Check(from <= size_, "a copy starts inside the Buffer");
  bytes = std::min(bytes, size_ - from);
  char* to = static_cast<char*>(out);
  size_t left = bytes;
  for (const Slice& slice : slices()) {
    if (left == 0) break;
    if (from >= slice.length) {
      from -= slice.length;
      continue;
    }
    const size_t part = std::min(left, slice.length - from);
    std::memcpy(to, slice.view().data() + from, part);
    to += part;
    left -= part;
    from = 0;
  }
  return bytes;
}

std::string Buffer::ToString() const {
  std::string text;
  text.reserve(size_);
  for (const Slice& slice : slices()) text.append(slice.view().data(), slice.length);
  return text;
}

absl::string_view Buffer::Front(size_t bytes, char* scratch) const {
  Check(bytes <= size_, "no more is looked at than there is");
  if (bytes == 0) return {};
  const Slice& first = slices().front();
  if (first.length >= bytes) return first.view().substr(0, bytes);
  CopyTo(scratch, bytes);
  return {scratch, bytes};
}

size_t Buffer::Iovecs(std::span<iovec> out, size_t from) const {
  Check(from <= size_, "parts start inside the Buffer");
  size_t count = 0;
  for (const Slice& slice : slices()) {
    if (count == out.size()) break;
    if (from >= slice.length) {
      from -= slice.length;
      continue;
    }
    out[count++] = {slice.block->bytes() + slice.offset + from, slice.length - from};
    from = 0;
  }
  return count;
}

size_t Buffer::WritableIovecs(std::span<iovec> out, size_t from) {
  for (const Slice& slice : slices()) {
    Check(slice.block.unique(), "only who alone refers to a block writes to it");
  }
  return Iovecs(out, from);
}

void Buffer::CopyFrom(const void* in, size_t bytes, size_t at) {
  Check(at <= size_ && bytes <= size_ - at, "a copy lies inside the Buffer");
  const char* next = static_cast<const char*>(in);
  while (bytes > 0) {
    std::array<iovec, 16> parts;
    const size_t count = WritableIovecs(parts, at);
    for (size_t i = 0; i < count && bytes > 0; ++i) {
      const size_t part = std::min(bytes, parts[i].iov_len);
      std::memcpy(parts[i].iov_base, next, part);
      next += part;
      at += part;
      bytes -= part;
    }
  }
}

size_t Buffer::pinned_bytes() const {
  size_t bytes = 0;
  const Block* last = nullptr;
  for (const Slice& slice : slices()) {
    const Block* const block = slice.block.get();
    if (block->of_program) {
      bytes += slice.length;
    } else if (block != last) {
      bytes += block->capacity;
    }
    last = block;
  }
  return bytes;
}

// Counts the bytes. True: they need no slice of their own.
bool Buffer::Merge(const BlockRef& block, uint32_t offset, uint32_t length) {
  if (length == 0) return true;
  CheckInside(block, offset, length);
  size_ += length;
  if (slices_.empty()) return false;
  Slice& last = slices_.back();
  if (last.block != block || last.offset + last.length != offset) return false;
  last.length += length;
  return true;
}

}  // namespace farcall
