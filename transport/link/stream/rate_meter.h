// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_STREAM_RATE_METER_H_
#define FARCALL_TRANSPORT_LINK_STREAM_RATE_METER_H_

#include <chrono>
#include <cstdint>

#include "transport/base/time.h"

namespace farcall {

// How fast a rail brings bytes, by what the peer tells to have come while more was in flight all
// the time. What is sent one by one tells of the way there and back instead, and does not count.
// Pure.
class RateMeter {
 public:
  // `tail`: fewer bytes in flight than these are told of late, by up to `delay`.
  RateMeter(uint64_t tail, Duration delay) : tail_(tail), delay_(delay) {}

  // Bytes are given to the rail, on which none was in flight; `acknowledged` so far.
  void Begin(uint64_t acknowledged, TimePoint now) {
    from_ = now;
    from_count_ = acknowledged;
  }
  // `acknowledged` have come, and `in_flight` have not.
  void Acknowledge(uint64_t acknowledged, uint64_t in_flight, TimePoint now);

  // Bytes a second; 0: not known.
  double rate() const { return seconds_ > 0 ? bytes_ / seconds_ : 0; }
  // The same, towards `best` the longer ago it was measured: what is not used for being slow is
  // tried again, with ever more.
  double Estimate(double best, TimePoint now) const;

 private:
  // In which a measurement loses half of its weight. What the peer tells comes in bunches, as it
  // waits behind bytes of the peer's own: so bytes and times are added up, rather than rates.
  static constexpr Duration kHalfLife = std::chrono::milliseconds(20);
  // In which an estimate that nothing confirms is doubled.
  static constexpr Duration kTrust = std::chrono::milliseconds(500);

  const uint64_t tail_;
  const Duration delay_;
  TimePoint from_{};
  uint64_t from_count_ = 0;
  // Added up, with their weights.
  double bytes_ = 0;
  double seconds_ = 0;
  TimePoint measured_{};
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_STREAM_RATE_METER_H_
