// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_BENCHMARKS_COMMON_STORE_MEMORY_H_
#define FARCALL_BENCHMARKS_COMMON_STORE_MEMORY_H_

#include <cstddef>

namespace farcall::bench {

// Of a server that is put to, and as much of one that is got from. Used from the beginning to the
// end and again, so that what the caches do is the same for all systems; no more may be under way
// (LoadOptions::Validate).
inline constexpr size_t kStoreMemory = size_t{16} << 20;

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_COMMON_STORE_MEMORY_H_
