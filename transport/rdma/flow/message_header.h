// SPDX-License-Identifier: Apache-2.0
//
// The first bytes of every RDMA message:
//
//   0   u32   receives given to the one who reads this, since the connection began
//   4   u8    flags: 1 = fin, 2 = reference
//   5   u8    0
//   6   u16   references of the one who reads this that were read, since the connection began
//
// in big-endian order. The bytes of the stream follow, to the end of the message. A message
// without any is a bare count. In a message with the flag "reference" they do not follow: they
// are to be fetched from the sender's memory by RDMA READ, and what follows says where:
//
//   8   u64   address
//  16   u32   remote key
//  20   u32   length
//
// The flag, and other counts of references than 0, come only where both ends have said that
// they do so (private_data.h).

#ifndef FARCALL_TRANSPORT_RDMA_FLOW_MESSAGE_HEADER_H_
#define FARCALL_TRANSPORT_RDMA_FLOW_MESSAGE_HEADER_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "transport/base/big_endian.h"

namespace farcall {

constexpr size_t kMessageHeaderBytes = 8;

struct MessageHeader {
  uint32_t count = 0;  // see CreditFlow
  // No bytes of the stream follow in later messages, only bare counts: the orderly end of
  // this direction.
  bool fin = false;
  bool reference = false;  // a RemoteBytes follows, and nothing else
  // See MemoryWindowRing; wraps.
  uint16_t references_read = 0;

  bool operator==(const MessageHeader&) const = default;
};

// Bytes of the stream in the memory of their sender.
struct RemoteBytes {
  static constexpr size_t kEncodedBytes = 16;
  // More are refused: who reads finds memory for all of them first.
  static constexpr uint32_t kMax = 1 << 20;

  uint64_t address = 0;
  uint32_t key = 0;
  uint32_t length = 0;  // 1 to kMax

  bool operator==(const RemoteBytes&) const = default;
};

// Whether the two ends have agreed on references.
enum class References : bool { kNo, kYes };

// `out` has room for kMessageHeaderBytes.
inline void EncodeMessageHeader(const MessageHeader& header, char* out) {
  PutBigEndian<uint32_t>(header.count, out);
  const uint32_t flags = (header.fin ? 1u : 0u) | (header.reference ? 2u : 0u);
  PutBigEndian<uint32_t>(flags << 24 | header.references_read, out + 4);
}

// Of a whole message, as long as the completion says. An error: the peer does not keep to
// the protocol.
inline absl::StatusOr<MessageHeader> DecodeMessageHeader(absl::string_view message,
                                                         References references = References::kNo) {
  if (message.size() < kMessageHeaderBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("RDMA message of ", message.size(), " bytes is shorter than its header"));
  }
  const auto rest = GetBigEndian<uint32_t>(message.data() + 4);
  const uint32_t known = references == References::kYes ? 0x0300ffffu : 0x01000000u;
  if ((rest & ~known) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("RDMA message has unknown flags 0x", absl::Hex(rest, absl::kZeroPad8)));
  }
  return MessageHeader{.count = GetBigEndian<uint32_t>(message.data()),
                       .fin = (rest >> 24 & 1) != 0,
                       .reference = (rest >> 24 & 2) != 0,
                       .references_read = static_cast<uint16_t>(rest)};
}

// `out` has room for kEncodedBytes.
inline void EncodeRemoteBytes(const RemoteBytes& bytes, char* out) {
  PutBigEndian<uint64_t>(bytes.address, out);
  PutBigEndian<uint32_t>(bytes.key, out + 8);
  PutBigEndian<uint32_t>(bytes.length, out + 12);
}

// Of the whole of a message whose header says so.
inline absl::StatusOr<RemoteBytes> DecodeRemoteBytes(absl::string_view message) {
  if (message.size() != kMessageHeaderBytes + RemoteBytes::kEncodedBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("RDMA message of ", message.size(), " bytes is to have a reference"));
  }
  const char* const in = message.data() + kMessageHeaderBytes;
  const RemoteBytes bytes{.address = GetBigEndian<uint64_t>(in),
                          .key = GetBigEndian<uint32_t>(in + 8),
                          .length = GetBigEndian<uint32_t>(in + 12)};
  if (bytes.length == 0 || bytes.length > RemoteBytes::kMax) {
    return absl::InvalidArgumentError(absl::StrCat("RDMA message refers to ", bytes.length,
                                                   " bytes, not 1 to ", RemoteBytes::kMax));
  }
  return bytes;
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_FLOW_MESSAGE_HEADER_H_
