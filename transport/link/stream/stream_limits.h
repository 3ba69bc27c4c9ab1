// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_STREAM_STREAM_LIMITS_H_
#define FARCALL_TRANSPORT_LINK_STREAM_STREAM_LIMITS_H_

#include <chrono>
#include <cstddef>

#include "absl/status/status.h"
#include "transport/base/time.h"

namespace farcall {

// Of one SwitchingStream. Bytes and times.
struct StreamLimits {
  // What is sent and not acknowledged, at most: kept until then, and sent again where a
  // generation dies. At most what the peer has as receive_window. 4 KiB to 1 GiB.
  size_t send_window = size_t{8} << 20;
  // What the peer may send beyond what was acknowledged, so also what a handler that has
  // paused can make us hold. A quarter of it is acknowledged at once. 4 KiB to 1 GiB.
  size_t receive_window = size_t{8} << 20;
  // Payload of a DATA frame that is sent. The peer takes whole frames, so a larger one is
  // later there, and a wire that needs longer than progress_timeout for one counts as
  // stuck. 1 KiB to kMaxLinkData.
  size_t max_data = size_t{256} << 10;
  // How long received bytes may wait for an acknowledgement. 1 ms to 100 ms.
  Duration ack_delay = std::chrono::milliseconds(5);
  // A generation that moves nothing for so long, as PONGs tell, is given up. More than
  // ping_interval, up to 60 s.
  Duration progress_timeout = std::chrono::milliseconds(300);
  // Between PINGs while bytes are unacknowledged. 10 ms to 10 s.
  Duration ping_interval = std::chrono::milliseconds(100);
  // A lifeline silent for so long is asked by a PING although nothing is unacknowledged,
  // while an answer is expected. 10 ms to 1 h.
  Duration idle_ping = std::chrono::seconds(1);
  // A peer that owes a PONG, and from which nothing came on the lifeline for so long, counts
  // as dead. More than ping_interval, up to 1 h.
  Duration peer_timeout = std::chrono::seconds(10);
  // A peer that answers, and takes nothing of what waits for so long, is logged and counted
  // (StallWatch). 10 ms to 1 h.
  Duration stall_patience = std::chrono::seconds(5);
  // From this side's BYE to the end of the lifeline. 1 ms to 1 h.
  Duration close_timeout = std::chrono::seconds(3);

  // kInvalidArgument, with the name of the limit.
  absl::Status Validate() const;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_STREAM_STREAM_LIMITS_H_
