// SPDX-License-Identifier: Apache-2.0
//
// Memory for bytes that stay: Buffers of blocks whose sizes fit what is in them.

#ifndef FARCALL_TRANSPORT_BUFFER_RIGHT_SIZED_H_
#define FARCALL_TRANSPORT_BUFFER_RIGHT_SIZED_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/buffer.h"

namespace farcall {

// `bytes` bytes in blocks of `pool` without another reference, to be written by CopyFrom or
// WritableIovecs; they are what they were. Of more than 4 KiB they pin less than twice
// their size, unless the pool has only larger blocks left. kResourceExhausted: the pool has not so
// many, and none is taken. Any thread.
absl::StatusOr<Buffer> AllocateBuffer(BlockPool& pool, size_t bytes);

// The same bytes, pinning less than twice as many (Buffer::pinned_bytes). They stay where they are
// if that holds already. Else they are copied: into blocks of `pool`, or, up to 4 KiB and where it
// has none that fit, to the ordinary heap, which no device knows. Any thread.
Buffer RightSized(BlockPool& pool, Buffer bytes);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BUFFER_RIGHT_SIZED_H_
