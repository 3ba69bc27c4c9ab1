// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_SERVER_LIMITS_SESSION_TIMEOUTS_H_
#define FARCALL_RPC_SESSION_SERVER_LIMITS_SESSION_TIMEOUTS_H_

#include <cstddef>
#include <cstdint>

#include "transport/base/time.h"

namespace farcall {

// How long a server waits for a peer that owes it something, or for one that does nothing. Costs
// a few stores for each read and answer; the timer, one for each connection, is set only when it
// has fired. Pure; one thread at a time.
class SessionTimeouts {
 public:
  enum class Verdict : unsigned char {
    kWait,
    kSilent,      // not one byte came
    kUnfinished,  // a request was begun and is not complete
    kNotReading,  // answers wait, and the peer takes nothing of them
    kTooSlow,     // or less than kMinRate
    kIdle,        // nothing is under way
  };
  // Bytes that a peer takes each second of those that wait for it, over Limits::read; who reads one
  // now and then would hold them for as long as it likes.
  static constexpr int64_t kMinRate = 16 << 10;

  struct Limits {
    Duration idle = Duration::max();  // max: for ever
    Duration read = Duration::max();
  };
  struct State {
    bool under_way = false;  // a call, or what is done for the peer else
    size_t held_up = 0;      // bytes that wait to be sent
    uint64_t sent = 0;       // bytes that left, ever
  };
  struct Look {
    Verdict verdict = Verdict::kWait;
    TimePoint again = TimePoint::max();  // max: there is nothing to wait for
  };

  SessionTimeouts(const Limits& limits, TimePoint now)
      : limits_(limits), since_(now), active_(now) {}

  // When to look for the first time; max: never.
  TimePoint first_look() const { return Plus(since_, Shortest()); }
  // Bytes were looked at: a whole request was among them; the peer owes the rest of another.
  void OnRead(bool whole, bool rest, TimePoint now) {
    heard_ = true;
    active_ = now;
    if (!rest) {
      begun_ = TimePoint::max();
    } else if (whole || begun_ == TimePoint::max()) {
      begun_ = now;
    }
  }
  void OnAnswer(TimePoint now) { active_ = now; }
  // It is we who do not read; OnRead comes when that is over.
  void OnPause() { begun_ = TimePoint::max(); }
  Look At(TimePoint now, const State& state);

 private:
  bool TookEnough(uint64_t sent) const;
  Duration Shortest() const { return limits_.idle < limits_.read ? limits_.idle : limits_.read; }
  static TimePoint Plus(TimePoint time, Duration duration) {
    return duration >= TimePoint::max() - time ? TimePoint::max() : time + duration;
  }

  const Limits limits_;
  const TimePoint since_;
  TimePoint active_;
  TimePoint begun_ = TimePoint::max();  // the request at the front; max: there is none
  // The time in which a peer has to take the least. max: nothing waits.
  TimePoint waits_ = TimePoint::max();  // its beginning
  uint64_t sent_ = 0;                   // then
  size_t owed_ = 0;                     // then: what waited, of which no more can be asked
  bool heard_ = false;
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_SERVER_LIMITS_SESSION_TIMEOUTS_H_
