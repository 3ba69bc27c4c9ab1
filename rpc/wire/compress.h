// SPDX-License-Identifier: Apache-2.0
//
// The compress types of docs/wire.md, from Buffer to Buffer. Pure.

#ifndef FARCALL_RPC_WIRE_COMPRESS_H_
#define FARCALL_RPC_WIRE_COMPRESS_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/buffer.h"

namespace farcall {

// OK, or kInvalidArgument with the number and those that there are.
absl::Status CheckCompressType(int type);

// `data` as `type` (a CompressType that is not NONE; else kInvalidArgument) has it, in blocks of
// `pool`. kResourceExhausted: `pool` is at its limit, or there is no memory for the compressor
// itself (up to 300 KiB, for the duration of the call).
absl::StatusOr<Buffer> Compress(int type, const Buffer& data, BlockPool& pool);

// The other way round. The result has at most `max_size` bytes, and never, not even on the
// way to an error, are there more blocks than for that and one; beside them the decompressor
// takes up to 64 KiB, for LZ4 up to three times the blocks that the frame announces, which are
// not larger than max_size or 64 KiB. kInvalidArgument: not of this type, cut short, or with
// bytes after its end. kOutOfRange: over `max_size`. kResourceExhausted: `pool` is at its limit,
// or there is no memory for the decompressor.
absl::StatusOr<Buffer> Decompress(int type, const Buffer& data, size_t max_size, BlockPool& pool);

}  // namespace farcall

#endif  // FARCALL_RPC_WIRE_COMPRESS_H_
