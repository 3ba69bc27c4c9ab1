// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_WIRE_CHECKSUM_H_
#define FARCALL_RPC_WIRE_CHECKSUM_H_

#include <cstdint>

#include "transport/buffer/buffer.h"

namespace farcall {

// CRC32C (Castagnoli, RFC 3720 appendix B.4) of the bytes of `data`.
// `before` is the CRC of what stands before them: Crc32c(b, Crc32c(a)) is that of a and b
// joined.
uint32_t Crc32c(const Buffer& data, uint32_t before = 0);

// What travels in RpcMeta.checksum_value, most significant byte first, instead of the CRC
// itself: a CRC over bytes that hold their own CRC is a poor one, so brpc turns and shifts it
// as LevelDB does (doc/log_format.md there).
constexpr uint32_t MaskCrc32c(uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8u; }

}  // namespace farcall

#endif  // FARCALL_RPC_WIRE_CHECKSUM_H_
