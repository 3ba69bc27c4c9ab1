// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_SERVER_PROTOCOL_GUESS_H_
#define FARCALL_RPC_SESSION_SERVER_PROTOCOL_GUESS_H_

#include <algorithm>
#include <cstddef>

#include "absl/strings/string_view.h"

namespace farcall {

// Which protocol a connection speaks, by its first bytes.
enum class ProtocolGuess : unsigned char {
  kTooFewBytes,  // more bytes would tell
  kFrames,       // baidu_std
  kBrpcRdma,     // the same of a brpc client that asks for RDMA first
  kHttp,         // by a method of RFC 9110, or what HTTP/2 begins with (RFC 9113 3.4)
  kUnknown,
};

// More are not looked at.
inline constexpr size_t kProtocolGuessBytes = 8;

// Pure. `front`: at least one byte.
inline ProtocolGuess GuessProtocol(absl::string_view front) {
  const auto may_be = [front](absl::string_view start) {
    const size_t common = std::min(front.size(), start.size());
    return front.substr(0, common) == start.substr(0, common);
  };
  constexpr absl::string_view kMagic = "PRPC";
  if (may_be(kMagic)) {
    return front.size() < kMagic.size() ? ProtocolGuess::kTooFewBytes : ProtocolGuess::kFrames;
  }
  for (const absl::string_view hello : {"RDMA", "RDM3"}) {
    if (!may_be(hello)) continue;
    return front.size() < hello.size() ? ProtocolGuess::kTooFewBytes : ProtocolGuess::kBrpcRdma;
  }
  static constexpr absl::string_view kMethods[] = {"GET ",    "HEAD ",    "POST ",    "PUT ",
                                                   "DELETE ", "CONNECT ", "OPTIONS ", "TRACE ",
                                                   "PATCH ",  "PRI * "};
  for (const absl::string_view method : kMethods) {
    if (may_be(method)) return ProtocolGuess::kHttp;
  }
  return ProtocolGuess::kUnknown;
}

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_SERVER_PROTOCOL_GUESS_H_
