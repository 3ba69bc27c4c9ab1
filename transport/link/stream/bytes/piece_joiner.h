// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_STREAM_BYTES_PIECE_JOINER_H_
#define FARCALL_TRANSPORT_LINK_STREAM_BYTES_PIECE_JOINER_H_

#include <cstddef>
#include <string>
#include <utility>

#include "transport/buffer/block_pool.h"
#include "transport/buffer/block_writer.h"
#include "transport/buffer/buffer.h"

namespace farcall {

// Appends pieces of a stream that wait to be read. The window counts bytes of the stream, and
// what waits must not take much more memory than those: but a payload in place keeps the whole
// block in which it came, with its header and all that is no stream. So where many pieces wait, a
// small one is copied behind the one before. Pure.
class PieceJoiner {
 public:
  // A quarter of the block that most is read into.
  static constexpr size_t kCopyBelow = size_t{16} << 10;
  // Pieces that may wait as they came: those of one turn are taken at once, as a rule.
  static constexpr size_t kPieces = 32;

  // `pool` outlives this.
  explicit PieceJoiner(BlockPool& pool) : blocks_(pool) {}

  // Appends `bytes` to `to`; `waiting`: the pieces that wait, there and elsewhere. Copies go to the
  // heap where the pool is at its limit.
  void Append(Buffer&& bytes, size_t waiting, Buffer& to) {
    if (waiting < kPieces || bytes.size() >= kCopyBelow) return to.Append(std::move(bytes));
    const std::string copy = bytes.ToString();
    if (!blocks_.Append(copy, to)) to.Append(copy);
  }

 private:
  BlockWriter blocks_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_STREAM_BYTES_PIECE_JOINER_H_
