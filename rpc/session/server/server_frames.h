// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_SERVER_SERVER_FRAMES_H_
#define FARCALL_RPC_SESSION_SERVER_SERVER_FRAMES_H_

#include <cstddef>
#include <memory>
#include <optional>

#include "absl/strings/string_view.h"
#include "rpc/dispatch/service_map.h"
#include "rpc/session/server/front_request.h"
#include "rpc/session/server/server_protocol.h"
#include "rpc/wire/frame.h"
#include "rpc/wire/oversized_frame.h"

namespace farcall {

class ServerSession;

// baidu_std on a server: frames are requests, and each has its answer, in any order.
class ServerFrames final : public ServerProtocol {
 public:
  explicit ServerFrames(ServerSession& session);

  absl::string_view name() const override { return "baidu_std"; }
  int max_calls() const override;
  absl::StatusOr<size_t> OnRead(Buffer& input) override;
  bool MidRequest(const Buffer& input) const override {
    return oversized_.skipping() || !input.empty();
  }
  size_t Held(const Buffer& input) const override { return input.size() - front_.Lying(input); }
  Buffer PlaceFor(size_t ahead, size_t bytes) override { return front_.PlaceFor(ahead, bytes); }
  std::shared_ptr<void> HoldPlace() override;
  bool AwaitsPlace() const override;
  void SendGoAway() override;

 private:
  absl::StatusOr<size_t> LookAtUnauthenticated(const Buffer& input);
  absl::StatusOr<size_t> TakeRequest(Buffer& input);
  void OnFrame();
  absl::StatusOr<size_t> AwaitRequest(const Buffer& input, size_t need);
  size_t PlacedSize(size_t frame_size);
  bool BeginRequest(const Buffer& input, size_t frame_size, size_t attachment);
  size_t DropRequest(size_t frame_size);
  absl::StatusOr<size_t> OnOversized(const Buffer& input);
  void OnRequest();
  const ServiceMap::Found& Find(const wire::RpcRequestMeta& request);
  void RefuseUnknown(const wire::RpcRequestMeta& request, const ServiceMap::Found& found);
  void RefuseOversized(absl::string_view text);
  void Refuse(int code, absl::string_view text);
  void Send(wire::RpcMeta& answer);

  ServerSession& session_;  // outlives this
  const FrameLimits limits_;
  Frame frame_;
  ServiceMap::Found last_;  // what the last request was for
  OversizedFrame oversized_;
  const bool asks_;  // some service has a placer
  // Of the frame at the front, once its meta was looked at before it was whole: bytes that have a
  // place of their own.
  std::optional<size_t> placed_;
  FrontRequest front_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_SERVER_SERVER_FRAMES_H_
