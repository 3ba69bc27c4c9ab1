// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_WIRE_BOUNDED_OUTPUT_H_
#define FARCALL_RPC_WIRE_BOUNDED_OUTPUT_H_

#include <algorithm>
#include <cstddef>
#include <span>

#include "transport/buffer/block_pool.h"
#include "transport/buffer/buffer.h"
#include "transport/buffer/zero_copy_stream.h"

namespace farcall {

// Room for a codec that writes into any space, piece by piece, and says how much it wrote.
class BoundedOutput {
 public:
  // `expected`: bytes that will be written, as a guess for the size of the first blocks.
  BoundedOutput(BlockPool& pool, size_t expected, size_t max_size)
      : stream_(pool, std::min(expected, max_size)), left_(max_size) {}

  // Where to write next; never empty, but when the pool is at its limit. Where all that is
  // allowed has been written, one byte that is thrown away: whether the codec uses it tells
  // whether it has more to say.
  std::span<char> Room() {
    if (left_ == 0) return {&spill_, 1};
    void* data = nullptr;
    int size = 0;
    if (!stream_.Next(&data, &size)) return {};
    given_ = static_cast<size_t>(size);
    return {static_cast<char*>(data), std::min(given_, left_)};
  }

  // Once for each Room() that was not empty: its first `bytes` were written. False: it is
  // more than is allowed.
  bool Wrote(size_t bytes) {
    if (left_ == 0) return bytes == 0;
    stream_.BackUp(static_cast<int>(given_ - bytes));
    left_ -= bytes;
    return true;
  }

  // All that was written. Nothing may be written after it.
  Buffer Take() { return stream_.Take(); }

 private:
  BlockOutputStream stream_;
  size_t left_;
  size_t given_ = 0;
  char spill_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_RPC_WIRE_BOUNDED_OUTPUT_H_
