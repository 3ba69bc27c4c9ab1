// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_SERVER_BRPC_RDMA_H_
#define FARCALL_RPC_SESSION_SERVER_BRPC_RDMA_H_

#include <memory>

#include "absl/strings/string_view.h"
#include "rpc/session/server_frames.h"
#include "rpc/session/server_protocol.h"
#include "transport/brpc/server_machine.h"

namespace farcall {

// baidu_std of a brpc client that asked for RDMA first. It is answered to stay on TCP: where RDMA
// is on, the link has answered before (docs/link.md).
class ServerBrpcRdma final : public ServerProtocol {
 public:
  explicit ServerBrpcRdma(ServerSession& session) : session_(session), frames_(session) {}

  absl::string_view name() const override { return frames_.name(); }
  int max_calls() const override { return frames_.max_calls(); }
  absl::StatusOr<size_t> OnRead(Buffer& input) override;
  // Until the client has decided it owes something.
  bool MidRequest(const Buffer& input) const override {
    return !hello_.done() || frames_.MidRequest(input);
  }
  size_t Held(const Buffer& input) const override { return frames_.Held(input); }
  Buffer PlaceFor(size_t ahead, size_t bytes) override { return frames_.PlaceFor(ahead, bytes); }
  std::shared_ptr<void> HoldPlace() override { return frames_.HoldPlace(); }
  bool AwaitsPlace() const override { return frames_.AwaitsPlace(); }
  // Before, a frame would be taken for a hello.
  void SendGoAway() override {
    if (hello_.done()) frames_.SendGoAway();
  }

 private:
  ServerSession& session_;  // outlives this
  BrpcServerMachine hello_;
  ServerFrames frames_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_SERVER_BRPC_RDMA_H_
