// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/rails/lifeline_watch.h"

#include <algorithm>

namespace farcall {

TimePoint LifelineWatch::DeathTime() const {
  return std::max(asked_at_, heard_) + limits_.peer_timeout;
}

bool LifelineWatch::PingDue(const Work& work, TimePoint now) const {
  if (asked_) return false;
  const auto time = NextTime(work);
  return time && now >= *time;
}

std::optional<TimePoint> LifelineWatch::NextTime(const Work& work) const {
  if (asked_) return DeathTime();
  const std::optional<TimePoint> usual = UsualTime(work);
  if (!work.still_since) return usual;
  const TimePoint soon = std::max(*work.still_since, asked_at_) + StillPing(limits_);
  return std::min(usual.value_or(soon), soon);
}

std::optional<TimePoint> LifelineWatch::UsualTime(const Work& work) const {
  if (work.unacknowledged_since) {
    return std::max(*work.unacknowledged_since, asked_at_) + limits_.ping_interval;
  }
  if (work.expects_answer) return heard_ + limits_.idle_ping;
  return std::nullopt;
}

uint64_t LifelineWatch::Ask(uint64_t position, uint32_t generation, TimePoint now) {
  // Earlier PONGs were of another generation.
  if (generation != generation_) progress_.Reset();
  asked_ = true;
  asked_at_ = now;
  progress_.Ask(position);
  generation_ = generation;
  return ++number_;
}

bool LifelineWatch::Answer(uint64_t number, uint64_t received, TimePoint now) {
  if (!asked_ || number != number_) return false;
  asked_ = false;
  progress_.Answer(received, now);
  return true;
}

bool LifelineWatch::Still(uint32_t generation, TimePoint now) const {
  return Lacks(generation, SuspectAfter(limits_), now);
}

bool LifelineWatch::Stuck(uint32_t generation, TimePoint now) const {
  return Lacks(generation, limits_.LastProgressTimeout(), now);
}

bool LifelineWatch::Lacks(uint32_t generation, Duration bound, TimePoint now) const {
  return generation != 0 && generation == generation_ && progress_.Lacks(bound, now);
}

}  // namespace farcall
