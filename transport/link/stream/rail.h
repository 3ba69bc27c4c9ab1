// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_STREAM_RAIL_H_
#define FARCALL_TRANSPORT_LINK_STREAM_RAIL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "transport/base/time.h"
#include "transport/framed_backlog.h"
#include "transport/link/stream/byte_range.h"
#include "transport/link/stream/flight_log.h"
#include "transport/link/stream/progress_watch.h"
#include "transport/link/stream/rate_meter.h"
#include "transport/link_options.h"

namespace farcall {

// A generation that this side sends on. Pure.
class Rail {
 public:
  Rail(uint32_t number, const StreamLimits& limits)
      : number_(number), rate_(limits.RailAckBytes()) {}

  uint32_t number() const { return number_; }
  // What was given to it, frames and all.
  FramedBacklog given;
  // PINGs and their answers; the flight that they are about.
  ProgressWatch progress;

  void Sent(uint64_t offset, uint64_t bytes, TimePoint now);
  // As FlightLog; they had come at `stamp`. False: more than were sent.
  [[nodiscard]] bool Acknowledge(uint64_t count, ArrivalStamp stamp, TimePoint now);
  void Raise(uint64_t offset) { flight_.Raise(offset); }

  // Since when bytes are in flight on it of which none is known to have come; none: nothing is.
  std::optional<TimePoint> still_since() const {
    if (flight_.in_flight() == 0) return std::nullopt;
    return moved_;
  }
  const FlightLog& flight() const { return flight_; }
  const RateMeter& rate() const { return rate_; }
  // Nothing moved on it for a while, and others are there: it is not sent on until all that was on
  // it then has come. A part of that may come late from one that is dying.
  bool suspect() const { return flight_.acknowledged() < trusted_at_; }
  std::vector<ByteRange> Suspect();
  std::vector<ByteRange> TakeLost() { return flight_.TakeLost(); }

 private:
  uint32_t number_;
  FlightLog flight_;
  RateMeter rate_;
  uint64_t trusted_at_ = 0;  // bytes of it that have come
  TimePoint moved_{};        // counts while something is in flight
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_STREAM_RAIL_H_
