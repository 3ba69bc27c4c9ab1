// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_STREAM_RAILS_FLIGHT_LOG_H_
#define FARCALL_TRANSPORT_LINK_STREAM_RAILS_FLIGHT_LOG_H_

#include <cstdint>
#include <deque>
#include <vector>

#include "transport/link/stream/bytes/byte_range.h"

namespace farcall {

// What DATA is in flight on one rail, which brings it in the order in which it was given. The peer
// tells how many bytes of it have come; when the rail breaks, the rest goes out again on others.
// Bounded by the window: bytes that touch are one range. Pure.
class FlightLog {
 public:
  // DATA is given to the rail.
  void Sent(uint64_t offset, uint64_t bytes);
  // So many bytes of DATA have come by the rail. A lower count than before says nothing. False:
  // more than were sent.
  [[nodiscard]] bool Acknowledge(uint64_t count);
  // Everything below `offset` has come, on whichever link, and cannot be lost.
  void Raise(uint64_t offset);
  // What may not have come, in the order in which it was sent. It is forgotten: the count goes on.
  std::vector<ByteRange> TakeLost();

  // Bytes of DATA, from the beginning of the rail.
  uint64_t sent() const { return sent_; }
  uint64_t acknowledged() const { return acknowledged_; }
  uint64_t in_flight() const { return sent_ - acknowledged_; }

 private:
  struct Piece {
    uint64_t at = 0;  // bytes given to the rail before it
    ByteRange range;
  };

  uint64_t sent_ = 0;
  uint64_t acknowledged_ = 0;
  std::deque<Piece> pieces_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_STREAM_RAILS_FLIGHT_LOG_H_
