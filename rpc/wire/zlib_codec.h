// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_WIRE_ZLIB_CODEC_H_
#define FARCALL_RPC_WIRE_ZLIB_CODEC_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/buffer.h"

namespace farcall {

// What stands around the deflated bytes (RFC 1951).
enum class ZlibWrapper {
  kGzip,  // RFC 1952; may be several members one after the other
  kZlib,  // RFC 1950
};

// As Compress and Decompress in compress.h.
absl::StatusOr<Buffer> ZlibCompress(ZlibWrapper wrapper, const Buffer& data, BlockPool& pool);
absl::StatusOr<Buffer> ZlibDecompress(ZlibWrapper wrapper, const Buffer& data, size_t max_size,
                                      BlockPool& pool);

}  // namespace farcall

#endif  // FARCALL_RPC_WIRE_ZLIB_CODEC_H_
