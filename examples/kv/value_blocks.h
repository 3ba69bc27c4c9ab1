// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_EXAMPLES_KV_VALUE_BLOCKS_H_
#define FARCALL_EXAMPLES_KV_VALUE_BLOCKS_H_

#include <cstddef>

#include "transport/buffer/block_pool.h"
#include "transport/buffer/buffer.h"

namespace example {

// Bytes of the blocks that `value` refers to, which stay in use as long as it is kept: all of each,
// however little of it is the value's.
size_t PinnedBytes(const farcall::Buffer& value);

// A value may have come in blocks that hold more than it. If it would pin more than twice its size,
// it is copied into small blocks of its own, where `pool` has them: then it pins less than that if
// it is larger than half of one.
farcall::Buffer Tightened(farcall::Buffer value, farcall::BlockPool& pool);

}  // namespace example

#endif  // FARCALL_EXAMPLES_KV_VALUE_BLOCKS_H_
