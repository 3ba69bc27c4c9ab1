// SPDX-License-Identifier: Apache-2.0
//
// LinkOptions: the times and windows of connections that may be upgraded to RDMA.

#ifndef FARCALL_TRANSPORT_LINK_OPTIONS_H_
#define FARCALL_TRANSPORT_LINK_OPTIONS_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "transport/base/time.h"

namespace farcall {

struct OptionField;  // transport/base/option_field.h

// Bytes of the payload of one frame, at most. What a peer can make us hold for a frame.
constexpr size_t kMaxLinkData = size_t{4} << 20;

// Generations that one stream sends on at the same time, at most.
inline constexpr uint32_t kMaxRails = 8;
// A slice of bulk has at most so many times StreamLimits::least_slice.
inline constexpr size_t kMaxSlices = 16;

// Of one connection that may use several carriers: bytes and times.
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
  // Generations in use at the same time, as both ends have agreed. With one the peer need not know
  // of several. 1 to kMaxRails.
  uint32_t rails = 1;
  // Of bulk, what is given to one of several rails at once, at least; twice as much is bulk. 4 KiB
  // to 1 MiB.
  size_t least_slice = size_t{64} << 10;
  // Bytes of one rail that are acknowledged at once; fewer after ack_delay.
  size_t RailAckBytes() const { return std::max<size_t>(least_slice / 2, 1); }
  // How long received bytes may wait for an acknowledgement. 1 ms to 100 ms.
  Duration ack_delay = std::chrono::milliseconds(5);
  // A generation that moves nothing for so long, as PONGs tell, is given up. More than
  // ping_interval, up to 60 s.
  Duration progress_timeout = std::chrono::milliseconds(300);
  // Whether TCP carries on where no generation is left. If not, the end of the last one is that of
  // the connection: it has as long as a dead peer.
  bool tcp_carries_on = true;
  Duration LastProgressTimeout() const {
    return tcp_carries_on ? progress_timeout : std::max(progress_timeout, peer_timeout);
  }
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

// A server cuts off who asks much faster than with this one.
inline constexpr Duration kMinUpgradePause = std::chrono::seconds(1);

// Of a client that asks for RDMA.
struct UpgradeTimes {
  // Between attempts; kMinUpgradePause to 1 h, and from first_pause to 24 h.
  Duration first_pause = std::chrono::seconds(1);
  Duration longest_pause = std::chrono::seconds(60);
  // Of several rails, one that broke three times within 10 s rests: for so long, and each time
  // twice as long, up to the other one; after as long as that it begins anew. 1 ms to 24 h.
  Duration first_rest = std::chrono::seconds(30);
  Duration longest_rest = std::chrono::minutes(5);
  // From ASK to its answer. 1 ms to 1 h.
  Duration answer = std::chrono::seconds(5);
  // From OFFER to a connection that can be written to, over all addresses. 1 ms to 1 h.
  Duration dial = std::chrono::seconds(5);
};

struct LinkOptions {
  // With require_rdma: until a connection uses RDMA, or is an error. 1 ms to 1 h.
  Duration require_timeout = std::chrono::seconds(5);
  // Client: how long looking for RDMA devices may hold up a connection, which is plain if it
  // takes longer. Only the first look takes more than microseconds. 1 ms to 60 s.
  Duration probe_timeout = std::chrono::seconds(2);
  // Client: how long the server may take to answer the hello. Who does not is spoken to
  // plainly. 1 ms to 60 s.
  Duration hello_timeout = std::chrono::milliseconds(300);
  // The same for a server that has answered one before: it is busy, as when many connect at
  // once. 1 ms to 60 s; less than hello_timeout means that.
  Duration busy_hello_timeout = std::chrono::seconds(3);
  // For how long a peer that did not answer is remembered. 0 to 1 h.
  Duration silent_peer_memory = std::chrono::seconds(60);
  // Server: half a hello, and silence; or something to be written while nothing came. 1 ms to
  // 60 s.
  Duration sniff_timeout = std::chrono::seconds(3);

  UpgradeTimes upgrade;
  // Its close_timeout, rails and tcp_carries_on count for nothing: ConnectionOptions, RdmaOptions
  // and require_rdma say them.
  StreamLimits stream;

  // kInvalidArgument, with the name of the option behind "link.".
  absl::Status Validate() const;
};

// All fields that count, described; they point into `options`. `prefix` comes before each name.
std::vector<OptionField> Fields(LinkOptions& options, absl::string_view prefix);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_OPTIONS_H_
