// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_STREAM_RAILS_RATE_METER_H_
#define FARCALL_TRANSPORT_LINK_STREAM_RAILS_RATE_METER_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

#include "transport/base/time.h"

namespace farcall {

// When bytes came, by the clock of who received them: microseconds, the low 32 bits.
using ArrivalStamp = uint32_t;
ArrivalStamp StampOf(TimePoint now);

// How fast a rail brings bytes, and when it will have brought those that are in flight, by what the
// peer tells to have come until when. How late the peer tells it, behind bytes of its own, does not
// count; nor does a time in which there was nothing to bring. Pure.
//
// The two clocks need not agree: of the time from the sending of a byte to its arrival the least
// ever seen, which no queue made longer, is what both their difference and the way take.
class RateMeter {
 public:
  // Bytes are counted from the beginning of the rail. `least`: fewer are not measured.
  explicit RateMeter(uint64_t least) : least_(least) {}

  // `count` have been given to the rail before, and so many more are now.
  void Sent(uint64_t count, uint64_t bytes, TimePoint now);
  // The first `count` had come at `stamp`. Whatever a peer says harms nothing but the measurement.
  void Acknowledge(uint64_t count, ArrivalStamp stamp, TimePoint now);

  // Bytes a second; 0: not known.
  double rate() const { return seconds_ > 0 ? bytes_ / seconds_ : 0; }
  // The same, towards `best` the longer ago it was measured: what is not used for being slow is
  // tried again, with ever more.
  double Estimate(double best, TimePoint now) const;
  // Seconds until all bytes in flight will have come, at `rate`; at least an eighth of what they
  // take, so that a rail of which nothing is heard is not taken for one that has brought all.
  double Ahead(double rate, TimePoint now) const;

 private:
  // In which a measurement loses half of its weight. Arrivals come in bunches, as a loop takes
  // several at a time: so bytes and times are added up, rather than rates.
  static constexpr Duration kHalfLife = std::chrono::milliseconds(20);
  // In which an estimate that nothing confirms is doubled.
  static constexpr Duration kTrust = std::chrono::milliseconds(500);
  // After so long without bytes in flight the clocks are compared anew.
  static constexpr Duration kForget = std::chrono::seconds(10);

  // Given in one go, or fewer than least_ in several.
  struct Piece {
    uint64_t from = 0;
    int64_t first = 0;  // microseconds, of the first of them
    int64_t last = 0;
  };

  void Measure(uint64_t count, TimePoint now);
  // Of the first byte in flight, which there is: when it was given, at the latest.
  int64_t NextGiven() const;
  // Whether that was before the one before it came, so that the rail goes on without a pause.
  bool GoesOn() const;

  const uint64_t least_;
  std::deque<Piece> pieces_;  // not acknowledged; bounded by the window
  uint64_t sent_ = 0;
  uint64_t acknowledged_ = 0;
  TimePoint reported_{};  // when the peer last reported
  ArrivalStamp stamp_ = 0;
  int64_t arrival_ = 0;            // microseconds of the peer: stamp_, without an end
  std::optional<int64_t> offset_;  // from sending to arrival, the least; none: not known
  // What is measured began here, with no pause since; none: nothing is.
  struct Begin {
    uint64_t count = 0;
    int64_t arrival = 0;
  };
  std::optional<Begin> begin_;
  // Added up, with their weights.
  double bytes_ = 0;
  double seconds_ = 0;
  TimePoint measured_{};
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_STREAM_RAILS_RATE_METER_H_
