// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_SEND_FRAME_H_
#define FARCALL_RPC_SESSION_SEND_FRAME_H_

#include <cstddef>
#include <utility>

#include "absl/strings/string_view.h"
#include "rpc/wire/frame.h"
#include "transport/loop/event_loop.h"

namespace farcall {

// Brings a frame to `loop`: deliver(head, body) runs with the loop held, now or later. Until then
// `head` stays. `now`: read from the loop's clock a moment ago. `more`: others follow at once, so
// that who drives the loop sends them together. No loop is held.
template <typename Deliver>
void DeliverFrame(EventLoop& loop, TimePoint now, absl::string_view head, Buffer& attachment,
                  Deliver deliver, bool more = false) {
  if (!more && loop.TryRunAt(now, [&] { deliver(head, std::move(attachment)); })) return;
  loop.Post([deliver = std::move(deliver), head, body = std::move(attachment)]() mutable {
    deliver(head, std::move(body));
  });
}

// Serializes a frame on this thread and brings it to `loop`: the frame is `head` followed by
// `body`. A head of at most kSmallHead bytes is written to `memory`, which has room for so many and
// stays until deliver has run; of a larger one deliver gets none. Before that, and once nothing can
// fail any more, ready() runs here. False, and nothing happens: `pool` is at its limit. No loop is
// held.
template <typename Deliver, typename Ready = void (*)()>
bool SendFrame(
    EventLoop& loop, BlockPool& pool, const FrameEncoder& encoder, char* memory, Buffer& attachment,
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
  encoder.WriteTo(memory);
  ready();
  DeliverFrame(loop, loop.clock().Now(), {memory, encoder.head_size()}, attachment,
               std::move(deliver));
  return true;
}

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_SEND_FRAME_H_
