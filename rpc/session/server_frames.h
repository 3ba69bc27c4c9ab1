// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_SERVER_FRAMES_H_
#define FARCALL_RPC_SESSION_SERVER_FRAMES_H_

#include "absl/strings/string_view.h"
#include "rpc/session/server_protocol.h"
#include "rpc/wire/frame.h"

namespace farcall {

class ServerSession;

// baidu_std on a server: frames are requests, and each has its answer, in any order.
class ServerFrames final : public ServerProtocol {
 public:
  explicit ServerFrames(ServerSession& session) : session_(session) {}

  absl::string_view name() const override { return "baidu_std"; }
  int max_calls() const override;
  absl::StatusOr<size_t> OnRead(Buffer& input) override;
  void SayFarewell() override;

 private:
  absl::StatusOr<size_t> MeetStranger(const Buffer& input);
  void OnRequest();
  void Refuse(int code, absl::string_view text);

  ServerSession& session_;  // outlives this
  Frame frame_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_SERVER_FRAMES_H_
