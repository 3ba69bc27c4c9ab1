// SPDX-License-Identifier: Apache-2.0
//
// Numbers in the bytes of messages: big-endian, the order of networks and of baidu_std.

#ifndef FARCALL_TRANSPORT_BASE_BIG_ENDIAN_H_
#define FARCALL_TRANSPORT_BASE_BIG_ENDIAN_H_

#include <endian.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

namespace farcall {

// From the order of this machine, and back to it. A load and a swap; of shifts over the bytes gcc
// makes a loop.
template <typename Number>
inline Number SwapToBigEndian(Number number) {
  static_assert(std::is_unsigned_v<Number> && sizeof(Number) <= 8, "unsigned");
  if constexpr (sizeof(Number) == 8) return htobe64(number);
  if constexpr (sizeof(Number) == 4) return htobe32(number);
  if constexpr (sizeof(Number) == 2) return htobe16(number);
  return number;
}

// sizeof(Number) bytes at `out`, which need not be aligned.
template <typename Number>
inline void PutBigEndian(Number number, char* out) {
  number = SwapToBigEndian(number);
  std::memcpy(out, &number, sizeof(number));
}

// The same, at the end of `out`.
template <typename Number>
inline void AppendBigEndian(Number number, std::string& out) {
  number = SwapToBigEndian(number);
  out.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

template <typename Number>
inline Number GetBigEndian(const char* in) {
  Number number;
  std::memcpy(&number, in, sizeof(number));
  return SwapToBigEndian(number);
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_BIG_ENDIAN_H_
