// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_BRPC_RDMA_HELLO_H_
#define FARCALL_RPC_SESSION_BRPC_RDMA_HELLO_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/buffer/buffer.h"

namespace farcall {

// What brpc clients with RDMA on say before their first request, and the answer of a server that
// carries their calls over TCP (docs/wire.md):
//
//   client: "RDMA" | u16 size, of all of it | fields         or  "RDM3" | u32 size | protobuf
//   server: the same with fields that offer nothing
//   client: u32 0: stay on TCP                               then its requests
//
// Integers are big-endian. The fields are of no use here, so nobody looks at them. Pure.
class BrpcRdmaHello {
 public:
  // `input`: what came, which begins with one of the two words. Takes off its front what belongs
  // to this; what is to be sent is put at the end of `answer`. 0: it is over, and requests follow;
  // else how many bytes (> input.size()) must be there. After an error the connection cannot go on.
  absl::StatusOr<size_t> OnRead(Buffer& input, std::string& answer);
  bool done() const { return state_ == State::kDone; }

 private:
  enum class State : uint8_t { kHello, kDecision, kDone };

  // 0: it was there, and is taken.
  absl::StatusOr<size_t> TakeHello(Buffer& input, std::string& answer);
  absl::StatusOr<size_t> TakeDecision(Buffer& input);

  State state_ = State::kHello;
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_BRPC_RDMA_HELLO_H_
