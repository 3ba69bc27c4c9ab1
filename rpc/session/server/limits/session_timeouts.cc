// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/server/limits/session_timeouts.h"

#include <algorithm>

namespace farcall {

SessionTimeouts::Look SessionTimeouts::At(TimePoint now, const State& state) {
  const bool over = now >= Plus(waits_, limits_.read);
  if (state.held_up == 0) {
    waits_ = TimePoint::max();
  } else if (waits_ == TimePoint::max() || (over && TookEnough(state.sent))) {
    waits_ = now;
    sent_ = state.sent;
    owed_ = state.held_up;
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
  consider(waits_, limits_.read, state.sent == sent_ ? Verdict::kNotReading : Verdict::kTooSlow);
  if (!state.under_way) consider(active_, limits_.idle, Verdict::kIdle);
  if (due <= now) return {verdict, TimePoint::max()};
  // What begins after this look is due no earlier than the shortest limit from now.
  return {Verdict::kWait, std::min(due, Plus(now, Shortest()))};
}

// How much waits now says nothing: answers are added while others leave.
bool SessionTimeouts::TookEnough(uint64_t sent) const {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(limits_.read).count();
  return sent - sent_ >= std::min<uint64_t>(owed_, static_cast<uint64_t>(ms) * kMinRate / 1000);
}

}  // namespace farcall
