// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_STREAM_RAILS_RAILS_H_
#define FARCALL_TRANSPORT_LINK_STREAM_RAILS_RAILS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "transport/base/time.h"
#include "transport/carrier/framed_backlog.h"
#include "transport/link/stream/bytes/byte_range.h"
#include "transport/link/stream/rails/flight_log.h"
#include "transport/link/stream/rails/progress_watch.h"
#include "transport/link/stream/rails/rate_meter.h"
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

// The generations that this side sends on, and which takes what. Little is sent on one of them, the
// home, so that it stays in order and the others can sleep. Much, or what comes behind much, is cut
// in slices, each for the rail that is done with it first, by what is in flight on it and how fast
// it was. Pure.
class Rails {
 public:
  // `limits` outlives this.
  explicit Rails(const StreamLimits& limits) : limits_(limits) {}

  void Add(uint32_t number) { rails_.push_back(std::make_unique<Rail>(number, limits_)); }
  // It is gone; what it may not have brought.
  std::vector<ByteRange> Remove(uint32_t number);
  Rail* Find(uint32_t number);
  const Rail* Find(uint32_t number) const;
  const std::vector<std::unique_ptr<Rail>>& all() const { return rails_; }
  // The oldest that is not suspect, else the oldest; 0: there is none.
  uint32_t home() const;

  struct Choice {
    Rail* rail = nullptr;
    size_t most = 0;  // bytes
  };
  // For the next of `waiting` bytes. There is a rail; null: each is to show first how fast it is,
  // by what is in flight on it.
  Choice Pick(uint64_t waiting, TimePoint now);
  // Since when nothing is known to have moved on one that may be suspect before long: the peer is
  // to be asked soon. None: all move, or none could stand in for it.
  std::optional<TimePoint> StillSince() const;
  // One on which nothing has moved for a while, though another is there to send on instead; null:
  // there is none. By the answers so far.
  Rail* FindSuspect(TimePoint now);
  // One on which nothing has moved for its ProgressTimeout, or null.
  Rail* FindStuck(TimePoint now);
  // Longer for the last one, where TCP does not carry on.
  Duration ProgressTimeout(const Rail& rail) const;

 private:
  bool MayTake(const Rail& rail) const;
  bool HasOther(const Rail& rail) const;
  double Best() const;

  const StreamLimits& limits_;
  std::vector<std::unique_ptr<Rail>> rails_;  // in the order of their numbers
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_STREAM_RAILS_RAILS_H_
