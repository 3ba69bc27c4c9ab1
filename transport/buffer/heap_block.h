// SPDX-License-Identifier: Apache-2.0
//
// Blocks that no pool owns. Each is its own owner, so that there is no global one.

#ifndef FARCALL_TRANSPORT_BUFFER_HEAP_BLOCK_H_
#define FARCALL_TRANSPORT_BUFFER_HEAP_BLOCK_H_

#include <cstdint>

#include "absl/functional/any_invocable.h"
#include "transport/buffer/block.h"

namespace farcall {

// A block of `bytes` on the ordinary heap, header and bytes in one allocation. The
// bytes are not initialised. Any thread.
BlockRef NewHeapBlock(uint32_t bytes);

// A block over the caller's memory, [data, data + bytes). It is not written.
// `release`, which may be null, runs once, when the last reference is dropped.
// `keys`, where the memory is part of a region that devices know, stay valid until then.
BlockRef NewUserBlock(const void* data, uint32_t bytes, absl::AnyInvocable<void()> release,
                      const RegionKeys* keys = nullptr);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BUFFER_HEAP_BLOCK_H_
