// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_SERVER_SERVER_FRAME_CALL_H_
#define FARCALL_RPC_SESSION_SERVER_SERVER_FRAME_CALL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "rpc/attachment_placer.h"
#include "rpc/session/server/pending_placement.h"
#include "rpc/session/server/request_place.h"
#include "rpc/session/server/server_call.h"
#include "rpc/wire/frame.h"
#include "rpc/wire/pack.h"
#include "transport/base/on_demand.h"

namespace farcall {

// A call that came in a frame of baidu_std.
class ServerFrameCall final : public ServerCall {
 public:
  // Takes payload and attachment out of `frame`.
  ServerFrameCall(ServerSession& session, const Admission& admission, Frame& frame);

  ~ServerFrameCall() override = default;

  // --- Of a method with a placer, in place of ServerSession::Submit, which follows by itself when
  // nothing is missing any more. With the session's loop held; whoever calls has a reference.

  // Asks the placer where the attachment, of so many bytes (> 0), shall lie.
  void AskForPlace(size_t attachment);
  // All of the frame is there: in the constructor, or in `frame`, of which it is taken.
  void Complete();
  void Complete(Frame& frame);
  void GiveUp(int code, absl::string_view text) override;
  bool given_up() const;
  bool awaits_place() const;
  // Of the attachment: as Connection::Handler.
  Buffer PlaceFor(size_t offset, size_t bytes);
  std::shared_ptr<void> HoldPlace();
  // Bytes of `input` that lie in the memory of the service: behind `head` others.
  size_t Lying(const Buffer& input, size_t head) const;

 private:
  class PendingReply;
  struct Placing {
    explicit Placing(size_t attachment) : place(attachment) {}

    RequestPlace place;
    std::shared_ptr<PendingPlacement> pending;  // null: the placer is not asked any more
    PlaceReply::Ended ended;                    // null: no one to notify
    absl::Status why;                           // place.failed()
  };

  // Of a request whose message is large, packed or for a placer, or with too much beside it.
  struct Other {
    PayloadInfo payload_info;
    std::string too_much;  // "": nothing
    Buffer payload;
  };

  void Dispose() override;
  bool MayBeAsked(size_t attachment);
  absl::Status ParseForPlacer(std::unique_ptr<CallMessages>& messages);
  void AskPlacer(size_t attachment, const google::protobuf::Message* message);
  void OnPlacement(Placement placement);
  void OnPlaceDropped();
  void RunIfDue();
  void Gather();
  void GiveMemoryBack(const absl::Status& how) override;
  absl::Status ParseRequest(google::protobuf::Message& request) override;
  absl::Status ParseOther(google::protobuf::Message& request);
  void SendAnswer(const google::protobuf::Message* response) override;

  void TakePayload(Frame& frame);
  void TakeFields(const wire::RpcMeta& meta);
  bool SendSmall(const google::protobuf::Message* response);
  void SendOther(const google::protobuf::Message* response);
  bool TrySend(const google::protobuf::Message* response, absl::Status& why, int& code);
  bool Deliver(const absl::StatusOr<FrameEncoder>& encoder, Buffer& body, int code,
               absl::Status& why, int& why_code);
  bool Deliver(const FrameEncoder& encoder, Buffer& body, int code);
  Buffer TakeAttachment();
  Packing ResponsePacking() const;
  const UserFields& ResponseFields() const;

  const int64_t correlation_id_;
  std::optional<size_t> small_payload_;  // in place of Other::payload: so many bytes of memory_
  std::unique_ptr<Placing> placing_;     // null: no placer was asked
  OnDemand<Other> other_;
  // For the message of the request until it is parsed, and then for the head of the answer.
  char memory_[kSmallHead];
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_SERVER_SERVER_FRAME_CALL_H_
