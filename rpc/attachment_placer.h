// SPDX-License-Identifier: Apache-2.0
//
// AttachmentPlacer: where the attachment of a request shall come to lie, said by the service before
// it is read. docs/memory.md has a picture of it, and what is copied.

#ifndef FARCALL_RPC_ATTACHMENT_PLACER_H_
#define FARCALL_RPC_ATTACHMENT_PLACER_H_

#include <cstddef>
#include <string>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "rpc/controller.h"
#include "transport/buffer/buffer.h"

namespace farcall {

// A request whose attachment was not read yet. It was admitted: within the limits of sizes and of
// concurrency, by a peer that is authenticated where that is asked for.
struct IncomingRequest {
  const google::protobuf::MethodDescriptor& method;
  size_t message_bytes;     // as they travel
  size_t attachment_bytes;  // > 0
  // User fields, deadline, log_id, auth_context(), connection(); no attachment.
  const Controller& controller;
  // Null, unless AttachmentPlacer::WantsMessage; and where it has more than kMaxMessage bytes, as
  // it travels or unpacked. With a checksum over message and attachment it is not verified yet.
  const google::protobuf::Message* message;

  static constexpr size_t kMaxMessage = size_t{64} << 10;
};

// What a placer said.
struct Placement {
  Buffer memory = {};  // empty: blocks of the pool
  absl::AnyInvocable<void(const absl::Status&)> ended = nullptr;
  int refused = 0;  // an error code; 0: it is not
  std::string text = {};
};

// By which a placer says where, once, at once or later, on any thread. One that is dropped without
// an answer says Pool().
class PlaceReply {
 public:
  // Run once, when nothing is written to the memory any more. OK: all of it is there, and the
  // handler runs next. Else why it will not be, and what the memory holds is not specified. On the
  // thread of the handler, with nothing held; where the request was over before its place was
  // said, from inside Memory().
  using Ended = absl::AnyInvocable<void(const absl::Status& how)>;

  // The library's own: `deliver` is run once.
  explicit PlaceReply(absl::AnyInvocable<void(Placement)> deliver) : deliver_(std::move(deliver)) {}
  PlaceReply(PlaceReply&& other) noexcept : deliver_(std::exchange(other.deliver_, nullptr)) {}
  PlaceReply& operator=(PlaceReply&& other) noexcept {
    std::swap(deliver_, other.deliver_);
    return *this;
  }
  ~PlaceReply() { Pool(); }

  // There, in order from the beginning: slices of a RegisteredMemory, or other host memory that may
  // be written (AppendUserData), at least attachment_bytes of it; with less the request fails.
  // Until `ended` (may be null) is run, no other code reads or writes it. The handler has slices of
  // it in request_attachment().
  void Memory(Buffer memory, Ended ended = nullptr) {
    Say({.memory = std::move(memory), .ended = std::move(ended)});
  }
  // In blocks of the pool, as without a placer.
  void Pool() { Say({}); }
  // Nowhere: the request fails with this code, not 0, and its attachment is dropped as it comes.
  void Refuse(int code, absl::string_view text) {
    Say({.refused = code != 0 ? code : static_cast<int>(kInternal), .text = std::string(text)});
  }

 private:
  // The first time only.
  void Say(Placement placement) {
    if (deliver_) std::exchange(deliver_, nullptr)(std::move(placement));
  }

  absl::AnyInvocable<void(Placement)> deliver_;
};

// Given to Server::AddService; asked for each request with an attachment, of each method of the
// service. Not for those that come by HTTP, which have none.
class AttachmentPlacer {
 public:
  virtual ~AttachmentPlacer() = default;
  // With a loop held: takes microseconds, does not block, and calls nothing of the library but
  // `reply`. Who needs longer keeps `reply` and answers later: what stands behind this request on
  // its connection waits until then, at most until the deadline of the request or for
  // ServerOptions::read_timeout_ms; other connections do not. `request` is valid during the call.
  // What it throws fails the request with EINTERNAL. A retry, and a backup request, is another
  // request, and may be under way at the same time: it gets memory of its own.
  virtual void Place(const IncomingRequest& request, PlaceReply reply) = 0;
  // Whether the message is to be parsed before, on the loop, where it holds up others; and once
  // more for the handler. What it throws is as what Place throws.
  virtual bool WantsMessage(const google::protobuf::MethodDescriptor& method) const {
    static_cast<void>(method);
    return false;
  }
};

}  // namespace farcall

#endif  // FARCALL_RPC_ATTACHMENT_PLACER_H_
