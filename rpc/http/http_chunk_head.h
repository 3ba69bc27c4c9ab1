// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_HTTP_HTTP_CHUNK_HEAD_H_
#define FARCALL_RPC_HTTP_HTTP_CHUNK_HEAD_H_

#include <cstddef>

#include "absl/strings/string_view.h"

namespace farcall {

// What stands before a chunk's data, or makes the last chunk (RFC 9112, section 7.1).
struct ChunkHead {
  size_t size =
      0;  // bytes of the line, of the line's end after the data before, and of the trailer
  bool well_formed = true;  // else `size` counts for nothing
};

// The chunk head at the front of `bytes`; size 0: it is not complete. `first`: no data came before.
// Strict where Beast is not: it lets space, and line ends in quoted strings, pass for an extension,
// and takes folded lines in the trailer.
ChunkHead FindChunkHead(absl::string_view bytes, bool first);

}  // namespace farcall

#endif  // FARCALL_RPC_HTTP_HTTP_CHUNK_HEAD_H_
