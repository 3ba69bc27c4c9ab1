// SPDX-License-Identifier: Apache-2.0
//
// The server's side of brpc's RDMA handshake (hello.h):
//
//   kHello --whole--> kAnswer --Accept--> kAccepted --1--> kRdma
//                             |                     \--0--> kPlain
//                             \-Refuse--> kRefused  --0--> kPlain
//
// Whatever else comes ends the connection with a reason: a decision for RDMA after a refusal, a
// second hello, bytes that are neither. What stands behind the decision is not of the handshake.

#ifndef FARCALL_TRANSPORT_BRPC_SERVER_MACHINE_H_
#define FARCALL_TRANSPORT_BRPC_SERVER_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "transport/base/check.h"
#include "transport/brpc/hello.h"

namespace farcall {

class BrpcServerMachine {
 public:
  enum class State : uint8_t { kHello, kAnswer, kAccepted, kRefused, kRdma, kPlain };

  State state() const { return state_; }
  bool done() const { return state_ == State::kRdma || state_ == State::kPlain; }
  // Since kAnswer.
  const BrpcHello& hello() const { return hello_; }

  // Takes off the front of `input` what belongs to this, as far as it can in this state: look at
  // state(), and call it again after an answer. 0: there is nothing to wait for; else how many
  // bytes (> input.size()) must be there.
  absl::StatusOr<size_t> OnRead(Buffer& input) {
    if (state_ == State::kHello) {
      const absl::StatusOr<size_t> need = CutBrpcHello(input, hello_);
      if (!need.ok() || *need != 0) return need;
      state_ = State::kAnswer;
    }
    if (state_ != State::kAccepted && state_ != State::kRefused) return 0;
    bool rdma = false;
    const absl::StatusOr<size_t> need = CutBrpcDecision(input, rdma);
    if (!need.ok() || *need != 0) return need;
    if (rdma && state_ == State::kRefused) {
      return absl::InvalidArgumentError("the brpc client wants RDMA although it was refused");
    }
    state_ = rdma ? State::kRdma : State::kPlain;
    return 0;
  }

  // In kAnswer: what is to be sent. Only a hello that is usable may be accepted.
  std::string Accept(const BrpcEnd& own) {
    Check(state_ == State::kAnswer && hello_.usable.ok(), "a usable hello is accepted once");
    state_ = State::kAccepted;
    return EncodeBrpcHello(hello_.version, own);
  }
  std::string Refuse(BrpcRefusal how) {
    Check(state_ == State::kAnswer, "a hello is answered once");
    state_ = State::kRefused;
    return EncodeBrpcRefusal(hello_.version, how);
  }

 private:
  State state_ = State::kHello;
  BrpcHello hello_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BRPC_SERVER_MACHINE_H_
