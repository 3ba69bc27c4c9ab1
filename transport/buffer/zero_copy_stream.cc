// SPDX-License-Identifier: Apache-2.0

#include "transport/buffer/zero_copy_stream.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "transport/base/check.h"
#include "transport/buffer/block_size.h"

namespace farcall {
namespace {

// protobuf counts in int; the largest piece that is handed out.
constexpr uint32_t kMaxPiece = std::numeric_limits<int>::max();

}  // namespace

bool BufferInputStream::Next(const void** data, int* size) {
  // A slice is left only here, so that BackUp finds what Next gave in the current one.
  if (slice_ < slices_.size() && used_ == slices_[slice_].length) {
    ++slice_;
    used_ = 0;
  }
  if (slice_ == slices_.size()) return false;
  const Buffer::Slice& slice = slices_[slice_];
  const uint32_t piece = std::min(slice.length - used_, kMaxPiece);
  *data = slice.view().data() + used_;
  *size = static_cast<int>(piece);
  used_ += piece;
  count_ += piece;
  return true;
}

// Further than what Next gave last, too: libprotobuf does that after a malformed message that goes
// on behind the limit it was given, and a peer must not be able to abort us by one.
void BufferInputStream::BackUp(int count) {
  Check(count >= 0 && count <= count_, "a stream backs up at most what it gave");
  count_ -= count;
  auto left = static_cast<uint32_t>(count);
  while (left > used_) {
    left -= used_;
    used_ = slices_[--slice_].length;
  }
  used_ -= left;
}

bool BufferInputStream::Skip(int count) {
  Check(count >= 0, "a stream skips forward");
  auto left = static_cast<uint32_t>(count);
  while (slice_ < slices_.size()) {
    const uint32_t part = std::min(left, slices_[slice_].length - used_);
    used_ += part;
    count_ += part;
    left -= part;
    if (left == 0) return true;
    ++slice_;
    used_ = 0;
  }
  return left == 0;
}

bool BlockOutputStream::Next(void** data, int* size) {
  if (!block_ || used_ == block_->capacity) {
    Seal();
    // Beyond what was expected: as much again as there is.
    const size_t done = done_.size();
    block_ = AllocateFor(done < expected_ ? expected_ - done : done, pool_);
    if (!block_) return false;
  }
  *data = block_->bytes() + used_;
  *size = static_cast<int>(block_->capacity - used_);
  used_ = block_->capacity;
  return true;
}

void BlockOutputStream::BackUp(int count) {
  Check(count >= 0 && static_cast<uint32_t>(count) <= used_,
        "a stream backs up at most what Next gave last");
  used_ -= static_cast<uint32_t>(count);
}

int64_t BlockOutputStream::ByteCount() const { return static_cast<int64_t>(done_.size()) + used_; }

Buffer BlockOutputStream::Take() {
  Seal();
  return std::move(done_);
}

void BlockOutputStream::Seal() {
  if (block_) done_.Append(Buffer::Slice{std::move(block_), 0, used_});
  used_ = 0;
}

}  // namespace farcall
