// SPDX-License-Identifier: Apache-2.0

#include "rpc/wire/compress_testing.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rpc/wire/frame_testing.h"
#include "transport/base/check.h"
#include "transport/testing/test_random.h"

namespace farcall::testing {

std::string Compressible(size_t size, uint64_t seed) {
  TestRandom random(seed);
  std::string bytes;
  while (bytes.size() < size) {
    if (bytes.size() > 100 && random.Chance(0.3)) {
      const size_t from = random.Below(bytes.size() - 50);
      bytes.append(bytes.substr(from, random.Size(300)));
    } else if (random.Chance(0.2)) {
      bytes.append(random.Size(200), static_cast<char>(random.Next()));
    } else {
      absl::StrAppend(&bytes, "field ", random.Below(1000), ": value ", random.Below(10), "; ");
    }
  }
  bytes.resize(size);
  return bytes;
}

std::string Noise(size_t size, uint64_t seed) {
  TestRandom random(seed);
  std::string bytes;
  bytes.reserve(size);
  while (bytes.size() < size) bytes.push_back(static_cast<char>(random.Next()));
  return bytes;
}

Buffer Zeros(size_t size) {
  static const std::string* const zeros = new std::string(size_t{1} << 20, '\0');
  Buffer out;
  while (size > 0) {
    const size_t part = std::min(size, zeros->size());
    out.AppendUserData(zeros->data(), part, [] {});
    size -= part;
  }
  return out;
}

std::string ForeignHello(CompressType type) {
  switch (type) {
    case COMPRESS_TYPE_SNAPPY:
      // Length 37; literal "hello " of 6; copy of 24 at 6 (two bytes of offset); literal of 7.
      return FromHex("25 14 68656c6c6f20 5e0600 18 66617263616c6c");
    case COMPRESS_TYPE_GZIP:
      return FromHex("1f8b08000000000002ffcb48cdc9c957c8c041a625162527e6e400002ddd51c725000000");
    case COMPRESS_TYPE_ZLIB:
      return FromHex("789ccb48cdc9c957c8c041a625162527e6e4000006840dda");
    case COMPRESS_TYPE_LZ4:
      return FromHex("04224d186440a7120000006f68656c6c6f200600057066617263616c6c000000004f5ec5de");
    default:
      CheckFailed("a type that compresses", __FILE__, __LINE__, __func__);
  }
}

std::unique_ptr<BlockPool> SmallPool() {
  BlockPoolOptions options;
  options.region_bytes = size_t{2} << 20;
  options.max_bytes = 3 * options.region_bytes;
  return *BlockPool::Create(options);
}

}  // namespace farcall::testing
