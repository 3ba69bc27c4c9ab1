// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_SERVER_SERVER_BRPC_RDMA_H_
#define FARCALL_RPC_SESSION_SERVER_SERVER_BRPC_RDMA_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "rpc/session/server/server_protocol.h"
#include "transport/brpc/server_machine.h"

namespace farcall {

class ServerSession;

// What a brpc client that asks for RDMA says before its frames. It is answered to stay on TCP:
// where RDMA is on, the link has answered before (docs/link.md). Over once the client has decided.
// Sends no GOAWAY: a frame would be taken for a hello.
class ServerBrpcRdma final : public ServerProtocol {
 public:
  explicit ServerBrpcRdma(ServerSession& session) : session_(session) {}

  absl::string_view name() const override { return "baidu_std"; }
  int max_calls() const override { return 1; }
  absl::StatusOr<size_t> OnRead(Buffer& input) override;
  // Until the client has decided it owes something.
  bool MidRequest(const Buffer&) const override { return true; }

 private:
  ServerSession& session_;  // outlives this
  BrpcServerMachine hello_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_SERVER_SERVER_BRPC_RDMA_H_
