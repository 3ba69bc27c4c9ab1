// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/server_brpc_rdma.h"

#include <string>

#include "rpc/session/server_session.h"

namespace farcall {

absl::StatusOr<size_t> ServerBrpcRdma::OnRead(Buffer& input) {
  if (hello_.done()) [[likely]]
    return frames_.OnRead(input);
  std::string answer;
  const absl::StatusOr<size_t> need = hello_.OnRead(input, answer);
  if (!answer.empty()) session_.Write(answer, Buffer());
  if (!need.ok() || *need != 0) return need;
  return frames_.OnRead(input);
}

}  // namespace farcall
