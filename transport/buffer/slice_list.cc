// SPDX-License-Identifier: Apache-2.0

#include "transport/buffer/slice_list.h"

#include <limits>

#include "transport/base/check.h"

namespace farcall {

void SliceList::Reset() {
  std::destroy(data() + head_, data() + end_);
  head_ = 0;
  end_ = 0;
  FreeHeap();
}

void SliceList::MakeRoom() {
  const uint32_t live = end_ - head_;
  const size_t bytes = live * sizeof(BufferSlice);
  if (head_ >= live && head_ > 0) {
    // They do not overlap.
    std::memcpy(static_cast<void*>(data()), data() + head_, bytes);
  } else {
    Check(capacity_ <= std::numeric_limits<uint32_t>::max() / 2, "a Buffer has fewer slices");
    const uint32_t larger = 2 * capacity_;
    BufferSlice* const fresh = std::allocator<BufferSlice>().allocate(larger);
    std::memcpy(static_cast<void*>(fresh), data() + head_, bytes);
    FreeHeap();
    heap_ = fresh;
    capacity_ = larger;
  }
  head_ = 0;
  end_ = live;
}

}  // namespace farcall
