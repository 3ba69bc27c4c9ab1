// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_SERVER_FRONT_REQUEST_H_
#define FARCALL_RPC_SESSION_SERVER_FRONT_REQUEST_H_

#include <cstddef>
#include <memory>

#include "rpc/session/placed_range.h"
#include "rpc/session/server/server_frame_call.h"
#include "transport/buffer/buffer.h"
#include "transport/loop/event_loop.h"

namespace farcall {

class ServerSession;

// The request at the front of a connection whose attachment is still coming, and whose service is
// asked where it shall come to lie. With the session's loop held.
class FrontRequest {
 public:
  // `session` outlives this.
  explicit FrontRequest(ServerSession& session);
  FrontRequest(const FrontRequest&) = delete;
  FrontRequest& operator=(const FrontRequest&) = delete;
  ~FrontRequest() { Clear(); }

  // Null: there is none.
  ServerFrameCall* call() const { return call_; }
  // From now on `call`, which was asked for its place, with a reference: of a frame of `frame`
  // bytes that ends with `attachment` of them.
  void Set(ServerFrameCall& call, size_t frame, size_t attachment);
  // It is complete, or is not wanted any more.
  void Clear();
  // So many bytes of the frame are there. Returns how many are worth to be waited for.
  size_t Await(size_t came);
  // Of the bytes behind those that came: as Connection::Handler.
  Buffer PlaceFor(size_t ahead, size_t bytes);
  // Bytes of `input`, which begins with the frame, that are the service's.
  size_t Lying(const Buffer& input) const;

 private:
  void OnTime();
  TimePoint Due() const;

  ServerSession& session_;
  ServerFrameCall* call_ = nullptr;  // a reference
  size_t frame_ = 0;                 // bytes
  PlacedRange placed_range_;
  TimePoint answer_due_{};  // of the service
  Timer timer_;             // pending while there is a call whose time may end
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_SERVER_FRONT_REQUEST_H_
