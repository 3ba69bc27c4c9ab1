// SPDX-License-Identifier: Apache-2.0
//
// The first bytes of every RDMA message:
//
//   0   u32   receives given to the one who reads this, since the connection began
//   4   u8    flags: 1 = fin
//   5   3 x 0
//
// in big-endian order. The bytes of the stream follow, to the end of the message. A message
// without any is a bare count.

#ifndef FARCALL_TRANSPORT_RDMA_MESSAGE_HEADER_H_
#define FARCALL_TRANSPORT_RDMA_MESSAGE_HEADER_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "transport/rdma/big_endian.h"

namespace farcall {

constexpr size_t kMessageHeaderBytes = 8;

struct MessageHeader {
  uint32_t count = 0;  // see CreditFlow
  // No bytes of the stream follow in later messages, only bare counts: the orderly end of
  // this direction.
  bool fin = false;
};

// `out` has room for kMessageHeaderBytes.
inline void EncodeMessageHeader(const MessageHeader& header, char* out) {
  PutBigEndian<uint32_t>(header.count, out);
  PutBigEndian<uint32_t>(header.fin ? uint32_t{1} << 24 : 0, out + 4);
}

// Of a whole message, as long as the completion says. An error: the peer does not keep to
// the protocol.
inline absl::StatusOr<MessageHeader> DecodeMessageHeader(absl::string_view message) {
  if (message.size() < kMessageHeaderBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("RDMA message of ", message.size(), " bytes is shorter than its header"));
  }
  const auto rest = GetBigEndian<uint32_t>(message.data() + 4);
  if ((rest & ~(uint32_t{1} << 24)) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("RDMA message has unknown flags 0x", absl::Hex(rest, absl::kZeroPad8)));
  }
  return MessageHeader{.count = GetBigEndian<uint32_t>(message.data()), .fin = rest != 0};
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_MESSAGE_HEADER_H_
