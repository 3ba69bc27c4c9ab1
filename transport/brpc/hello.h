// SPDX-License-Identifier: Apache-2.0
//
// The hellos by which the two ends of a TCP connection agree on RDMA among brpc:
//
//   client: hello             "RDMA" (version 2) or "RDM3" (version 3), and what it has
//   server: hello             of the same version; what it has, or a refusal
//   client: u32 decision      1: RDMA from here on; 0: TCP
//
// Version 2 has 40 bytes, integers big-endian, the GID as it is:
//
//   0 "RDMA" | 4 u16 40 | 6 u16 2 | 8 u16 1 | 10 u32 block | 14 u16 sends | 16 u16 receives
//   18 u16 LID | 20 GID | 36 u32 queue pair
//
// Version 3 is "RDM3" | u32 bytes that follow | brpc_hello.proto.

#ifndef FARCALL_TRANSPORT_BRPC_HELLO_H_
#define FARCALL_TRANSPORT_BRPC_HELLO_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "transport/brpc_end.h"
#include "transport/buffer/buffer.h"

namespace farcall {

enum class BrpcVersion : uint8_t { kSecond = 2, kThird = 3 };

// How a server says no.
enum class BrpcRefusal : uint8_t {
  kFellBack,  // it does RDMA, and not with this client, or not now
  kOff,       // it does none
};

struct BrpcHello {
  BrpcVersion version = BrpcVersion::kSecond;
  BrpcEnd end;
  // Not OK: no queue pair can be made with this: a refusal, or a field that is out of its bounds.
  absl::Status usable;
};

// Bytes of either magic.
constexpr size_t kBrpcMagic = 4;

// Whether the first bytes of a connection (one at least) may begin a hello. More than kBrpcMagic of
// them are not looked at.
bool MayBeBrpcHello(absl::string_view front);

// Cuts a hello off the front of `input`. 0: it was there, and is taken; else how many bytes
// (> input.size()) must be there. An error: there is none, and the connection cannot go on.
absl::StatusOr<size_t> CutBrpcHello(Buffer& input, BrpcHello& hello);
// The same of the client's decision.
absl::StatusOr<size_t> CutBrpcDecision(Buffer& input, bool& rdma);

std::string EncodeBrpcHello(BrpcVersion version, const BrpcEnd& end);
std::string EncodeBrpcRefusal(BrpcVersion version, BrpcRefusal how);
std::string EncodeBrpcDecision(bool rdma);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BRPC_HELLO_H_
