// SPDX-License-Identifier: Apache-2.0
//
// Numbers in the bytes of RDMA messages and private data: big-endian, the order of networks
// and of baidu_std.

#ifndef FARCALL_TRANSPORT_RDMA_FLOW_BIG_ENDIAN_H_
#define FARCALL_TRANSPORT_RDMA_FLOW_BIG_ENDIAN_H_

#include <cstddef>
#include <cstdint>

namespace farcall {

// sizeof(Number) bytes at `out`, which need not be aligned. Compilers make one store of it.
template <typename Number>
inline void PutBigEndian(Number number, char* out) {
  static_assert(Number{0} < static_cast<Number>(-1), "unsigned");
  for (size_t i = 0; i < sizeof(Number); ++i) {
    out[i] = static_cast<char>(static_cast<uint8_t>(number >> (8 * (sizeof(Number) - 1 - i))));
  }
}

template <typename Number>
inline Number GetBigEndian(const char* in) {
  static_assert(Number{0} < static_cast<Number>(-1), "unsigned");
  uint64_t number = 0;
  for (size_t i = 0; i < sizeof(Number); ++i) number = number << 8 | static_cast<uint8_t>(in[i]);
  return static_cast<Number>(number);
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_FLOW_BIG_ENDIAN_H_
