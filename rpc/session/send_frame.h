// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_SEND_FRAME_H_
#define FARCALL_RPC_SESSION_SEND_FRAME_H_

#include <cstddef>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "rpc/wire/frame.h"
#include "transport/loop/event_loop.h"

namespace farcall {

// Up to here the head of a frame is written to the stack and copied into the block that
// the session's other frames of the turn share; beyond, it gets blocks of its own.
inline constexpr size_t kSmallHead = 1024;

// Serializes a frame on this thread and brings it to `loop`: deliver(head, body) runs with
// the loop held, now or later, where the frame is `head` followed by `body`; `head` is valid
// only during the call. Before that, and once nothing can fail any more, ready() runs here.
// False, and nothing happens: `pool` is at its limit. No loop is held.
template <typename Deliver, typename Ready = void (*)()>
bool SendFrame(
    EventLoop& loop, BlockPool& pool, const FrameEncoder& encoder, Buffer& attachment,
    Deliver deliver, Ready ready = [] {}) {
  if (encoder.head_size() > kSmallHead) {
    Buffer frame;
    if (!encoder.AppendTo(pool, frame)) return false;
    frame.Append(std::move(attachment));
    ready();
    loop.RunOrPost([deliver = std::move(deliver), frame = std::move(frame)]() mutable {
      deliver(absl::string_view(), std::move(frame));
    });
    return true;
  }
  char scratch[kSmallHead];
  encoder.WriteTo(scratch);
  ready();
  const absl::string_view head(scratch, encoder.head_size());
  if (loop.TryRun([&] { deliver(head, std::move(attachment)); })) return true;
  loop.Post([deliver = std::move(deliver), head = std::string(head),
             body = std::move(attachment)]() mutable { deliver(head, std::move(body)); });
  return true;
}

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_SEND_FRAME_H_
