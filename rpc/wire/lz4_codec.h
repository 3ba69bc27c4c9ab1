// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_WIRE_LZ4_CODEC_H_
#define FARCALL_RPC_WIRE_LZ4_CODEC_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/buffer.h"

namespace farcall {

// One frame of LZ4 (lz4_Frame_format.md of lz4). As Compress and Decompress in compress.h.
// Written with blocks of 64 KiB, the size of the content and its checksum; read with or without
// the last two, but not with a dictionary.
absl::StatusOr<Buffer> Lz4Compress(const Buffer& data, BlockPool& pool);
absl::StatusOr<Buffer> Lz4Decompress(const Buffer& data, size_t max_size, BlockPool& pool);

}  // namespace farcall

#endif  // FARCALL_RPC_WIRE_LZ4_CODEC_H_
