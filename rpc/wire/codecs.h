// SPDX-License-Identifier: Apache-2.0
//
// What compress.h chooses from, and what its codecs have in common.

#ifndef FARCALL_RPC_WIRE_CODECS_H_
#define FARCALL_RPC_WIRE_CODECS_H_

#include <algorithm>
#include <cstddef>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/buffer.h"
#include "transport/buffer/zero_copy_stream.h"

namespace farcall {

// One frame of LZ4 (lz4_Frame_format.md of lz4). As Compress and Decompress in compress.h.
// Written with blocks of 64 KiB, the size of the content and its checksum; read with or without
// the last two, but not with a dictionary.
absl::StatusOr<Buffer> Lz4Compress(const Buffer& data, BlockPool& pool);
absl::StatusOr<Buffer> Lz4Decompress(const Buffer& data, size_t max_size, BlockPool& pool);

// Snappy's block format (format_description.txt of snappy), not the framed one. As Compress
// and Decompress in compress.h; at most 4 GiB - 1, which is what the format can say.
absl::StatusOr<Buffer> SnappyCompress(const Buffer& data, BlockPool& pool);
absl::StatusOr<Buffer> SnappyDecompress(const Buffer& data, size_t max_size, BlockPool& pool);

// What stands around the deflated bytes (RFC 1951).
enum class ZlibWrapper {
  kGzip,  // RFC 1952; may be several members one after the other
  kZlib,  // RFC 1950
};

// As Compress and Decompress in compress.h.
absl::StatusOr<Buffer> ZlibCompress(ZlibWrapper wrapper, const Buffer& data, BlockPool& pool);
absl::StatusOr<Buffer> ZlibDecompress(ZlibWrapper wrapper, const Buffer& data, size_t max_size,
                                      BlockPool& pool);

// `size`: bytes of the compressed payload.
inline absl::Status MalformedPayload(absl::string_view type, size_t size, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("the ", type, " payload of ", size, " bytes is malformed: ", what));
}

// Unlike NoBlocksFor, it never will be better.
inline absl::Status DecompressesToTooMuch(absl::string_view type, size_t size, size_t max_size) {
  return absl::OutOfRangeError(
      absl::StrCat("the ", type, " payload of ", size, " bytes decompresses to more than ",
                   max_size, ", the limit of a message: send less at once, or raise the limit"));
}

inline absl::Status NoBlocksFor(absl::string_view type, absl::string_view what) {
  return absl::ResourceExhaustedError(absl::StrCat("no blocks to ", what, " a ", type,
                                                   " payload (RuntimeOptions::pool.max_bytes)"));
}

inline absl::Status NoMemoryFor(absl::string_view type) {
  return absl::ResourceExhaustedError(absl::StrCat("no memory for ", type));
}

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

#endif  // FARCALL_RPC_WIRE_CODECS_H_
