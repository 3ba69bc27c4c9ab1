// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_NAMING_NAMING_PACE_H_
#define FARCALL_RPC_NAMING_NAMING_PACE_H_

#include <optional>

#include "transport/base/backoff.h"
#include "transport/base/time.h"

namespace farcall {

// When a name or a file is looked at next. Pure; one thread at a time. Looks follow one
// another: the next is due when the last has ended, and
//   - after a success at the end of the interval, or when the answer is out of date, if that is
//     sooner;
//   - after a failure in 1 s, doubling up to 30 s with each in a row, but within the interval;
//   - after Refresh at once, but not within kRefreshGap of the begin of the last.
class NamingPace {
 public:
  static constexpr Duration kFirstRetry = std::chrono::seconds(1);
  static constexpr Duration kLongestRetry = std::chrono::seconds(30);
  static constexpr Duration kRefreshGap = std::chrono::seconds(1);

  // The first look is due at `now`. No look is due within `floor` of the end of the one before,
  // except by Refresh.
  NamingPace(Duration interval, Duration floor, TimePoint now);

  void OnStart(TimePoint now);
  // `lifetime`: how long the answer is good, where it says so.
  void OnSuccess(TimePoint now, std::optional<Duration> lifetime);
  void OnFailure(TimePoint now);
  void Refresh(TimePoint now);
  // Empty: a look is under way.
  std::optional<TimePoint> due() const;

 private:
  void End(TimePoint next);
  TimePoint RefreshAt(TimePoint now) const;

  const Duration floor_;
  const Duration interval_;  // at least floor_
  TimePoint due_;
  std::optional<TimePoint> started_;  // the last look
  bool looking_ = false;
  bool again_ = false;  // Refresh came while a look was under way
  Backoff retry_{kFirstRetry, kLongestRetry};
};

}  // namespace farcall

#endif  // FARCALL_RPC_NAMING_NAMING_PACE_H_
