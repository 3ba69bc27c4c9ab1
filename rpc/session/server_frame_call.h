// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_SERVER_FRAME_CALL_H_
#define FARCALL_RPC_SESSION_SERVER_FRAME_CALL_H_

#include <cstdint>
#include <string>

#include "rpc/session/server_call.h"
#include "rpc/wire/frame.h"
#include "rpc/wire/pack.h"

namespace farcall {

// A call that came in a frame of baidu_std.
class ServerFrameCall final : public ServerCall {
 public:
  // Takes payload and attachment out of `frame`.
  ServerFrameCall(ServerSession& session, const Admission& admission, Frame& frame);

  ~ServerFrameCall() override = default;

 private:
  void Dispose() override;
  absl::Status ParseRequest(google::protobuf::Message& request) override;
  void SendAnswer(const google::protobuf::Message* response) override;

  bool TrySend(const google::protobuf::Message* response, absl::Status& why, int& code);
  bool Deliver(const absl::StatusOr<FrameEncoder>& encoder, Buffer& body, int code,
               absl::Status& why, int& why_code);
  bool Deliver(const FrameEncoder& encoder, Buffer& body, int code);
  Buffer TakeAttachment();
  Packing ResponsePacking();

  const int64_t correlation_id_;
  const PayloadInfo payload_info_;
  std::string too_much_;  // of what came beside the message; "": nothing
  Buffer payload_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_SERVER_FRAME_CALL_H_
