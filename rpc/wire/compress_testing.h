// SPDX-License-Identifier: Apache-2.0
//
// For the tests of compression: bytes to compress, and the samples that peers sent.

#ifndef FARCALL_RPC_WIRE_COMPRESS_TESTING_H_
#define FARCALL_RPC_WIRE_COMPRESS_TESTING_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "rpc/types.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/buffer.h"

namespace farcall::testing {

inline constexpr CompressType kCompressing[] = {COMPRESS_TYPE_SNAPPY, COMPRESS_TYPE_GZIP,
                                                COMPRESS_TYPE_ZLIB, COMPRESS_TYPE_LZ4};

// As errors name it.
inline const char* NameOf(CompressType type) {
  static constexpr const char* kNames[] = {"none", "snappy", "gzip", "zlib", "lz4"};
  return kNames[type];
}

// Text that every type makes smaller, with runs, far repetitions and some noise; follows from
// `seed`.
std::string Compressible(size_t size, uint64_t seed);
// Bytes that no type makes smaller.
std::string Noise(size_t size, uint64_t seed);
// `size` zeros, of which few are in memory.
Buffer Zeros(size_t size);

// kHello as other programs compress it.
inline constexpr absl::string_view kHello = "hello hello hello hello hello farcall";
// By hand, zlib of python3 (gzip and zlib) and the lz4 tool.
std::string ForeignHello(CompressType type);

// Which has at most three regions of 2 MiB: one block of kLarge, 32 of kMedium.
std::unique_ptr<BlockPool> SmallPool();

}  // namespace farcall::testing

#endif  // FARCALL_RPC_WIRE_COMPRESS_TESTING_H_
