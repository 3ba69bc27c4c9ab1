// SPDX-License-Identifier: Apache-2.0
//
// The client's side of brpc's RDMA handshake (hello.h):
//
//   kNew --Ask--> kAsked --hello--> kAnswered --Decide(1)--> kRdma
//                    |                        \-Decide(0)--> kPlain
//                    \----refusal--> kRefused  --Decide(0)--> kPlain
//
// A server says nothing behind its hello before it has the decision, so bytes there end the
// connection with a reason.

#ifndef FARCALL_TRANSPORT_BRPC_CLIENT_MACHINE_H_
#define FARCALL_TRANSPORT_BRPC_CLIENT_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "transport/base/check.h"
#include "transport/brpc/hello.h"

namespace farcall {

class BrpcClientMachine {
 public:
  enum class State : uint8_t { kNew, kAsked, kAnswered, kRefused, kRdma, kPlain };

  explicit BrpcClientMachine(BrpcVersion version) : version_(version) {}

  State state() const { return state_; }
  // Since kAnswered and kRefused; then `usable` says why.
  const BrpcHello& hello() const { return hello_; }

  // What is to be sent first, and nothing behind it.
  std::string Ask(const BrpcEnd& own) {
    Check(state_ == State::kNew, "a client asks once");
    state_ = State::kAsked;
    return EncodeBrpcHello(version_, own);
  }

  // As BrpcServerMachine::OnRead. After Decide it takes nothing.
  absl::StatusOr<size_t> OnRead(Buffer& input) {
    if (state_ == State::kAsked) {
      const absl::StatusOr<size_t> need = CutBrpcHello(input, hello_);
      if (!need.ok() || *need != 0) return need;
      if (hello_.version != version_) {
        return absl::InvalidArgumentError("the brpc server answers in another version");
      }
      state_ = hello_.usable.ok() ? State::kAnswered : State::kRefused;
    }
    const bool owed = state_ == State::kAnswered || state_ == State::kRefused;
    if ((owed || state_ == State::kNew) && !input.empty()) {
      return absl::InvalidArgumentError("the brpc server speaks before the client has decided");
    }
    return 0;
  }

  std::string Decide(bool rdma) {
    Check(state_ == State::kAnswered || (state_ == State::kRefused && !rdma),
          "a client decides once, and for RDMA only if it was accepted");
    state_ = rdma ? State::kRdma : State::kPlain;
    return EncodeBrpcDecision(rdma);
  }

 private:
  const BrpcVersion version_;
  State state_ = State::kNew;
  BrpcHello hello_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BRPC_CLIENT_MACHINE_H_
