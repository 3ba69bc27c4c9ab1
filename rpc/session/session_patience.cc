// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/session_patience.h"

#include <algorithm>

namespace farcall {

SessionPatience::Look SessionPatience::At(TimePoint now, const State& state) {
  if (state.held_up == 0) {
    stuck_ = TimePoint::max();
  } else if (stuck_ == TimePoint::max() || state.sent != sent_) {
    // How much waits says nothing: answers are added while others leave.
    stuck_ = now;
    sent_ = state.sent;
  }
  TimePoint due = TimePoint::max();
  Verdict verdict = Verdict::kWait;
  const auto consider = [&](TimePoint since, Duration limit, Verdict then) {
    const TimePoint end = Plus(since, limit);
    if (end >= due) return;
    due = end;
    verdict = then;
  };
  if (!heard_) consider(since_, limits_.read, Verdict::kSilent);
  consider(begun_, limits_.read, Verdict::kUnfinished);
  consider(stuck_, limits_.read, Verdict::kNotReading);
  if (!state.under_way) consider(active_, limits_.idle, Verdict::kIdle);
  if (due <= now) return {verdict, TimePoint::max()};
  // What begins after this look is due no earlier than the shortest limit from now.
  return {Verdict::kWait, std::min(due, Plus(now, Shortest()))};
}

}  // namespace farcall
