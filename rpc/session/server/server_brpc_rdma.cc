// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/server/server_brpc_rdma.h"

#include "rpc/session/server/server_session.h"

namespace farcall {

absl::StatusOr<size_t> ServerBrpcRdma::OnRead(Buffer& input) {
  absl::StatusOr<size_t> need = hello_.OnRead(input);
  if (hello_.state() == BrpcServerMachine::State::kAnswer) {
    session_.Write(hello_.Refuse(BrpcRefusal::kOff), Buffer());
    need = hello_.OnRead(input);
  }
  if (!need.ok() || !hello_.done()) return need;
  // Which ends this.
  return session_.GoOnWithFrames(input);
}

}  // namespace farcall
