// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_WIRE_SNAPPY_CODEC_H_
#define FARCALL_RPC_WIRE_SNAPPY_CODEC_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/buffer.h"

namespace farcall {

// Snappy's block format (format_description.txt of snappy), not the framed one. As Compress
// and Decompress in compress.h; at most 4 GiB - 1, which is what the format can say.
absl::StatusOr<Buffer> SnappyCompress(const Buffer& data, BlockPool& pool);
absl::StatusOr<Buffer> SnappyDecompress(const Buffer& data, size_t max_size, BlockPool& pool);

}  // namespace farcall

#endif  // FARCALL_RPC_WIRE_SNAPPY_CODEC_H_
