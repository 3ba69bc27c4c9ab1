// SPDX-License-Identifier: Apache-2.0

#include "rpc/naming/naming_pace.h"

#include <algorithm>
#include <utility>

#include "transport/base/check.h"

namespace farcall {

NamingPace::NamingPace(Duration interval, Duration floor, TimePoint now)
    : floor_(floor), interval_(std::max(interval, floor)), due_(now) {}

void NamingPace::OnStart(TimePoint now) {
  Check(!looking_, "one look follows another");
  looking_ = true;
  started_ = now;
}

void NamingPace::OnSuccess(TimePoint now, std::optional<Duration> lifetime) {
  retry_.Reset();
  End(now + std::clamp(lifetime.value_or(interval_), floor_, interval_));
}

void NamingPace::OnFailure(TimePoint now) {
  End(now + std::clamp(retry_.NextUncut(), floor_, interval_));
}

void NamingPace::Refresh(TimePoint now) {
  again_ = looking_;
  if (!looking_) due_ = std::min(due_, RefreshAt(now));
}

std::optional<TimePoint> NamingPace::due() const {
  if (looking_) return std::nullopt;
  return due_;
}

void NamingPace::End(TimePoint next) {
  Check(looking_, "what ends has begun");
  looking_ = false;
  due_ = next;
  if (std::exchange(again_, false)) due_ = std::min(due_, *started_ + kRefreshGap);
}

TimePoint NamingPace::RefreshAt(TimePoint now) const {
  return started_ ? std::max(now, *started_ + kRefreshGap) : now;
}

}  // namespace farcall
