// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/polling.h"

#include <algorithm>

namespace farcall {

absl::Status PollingOptions::Validate() const {
  if (spin < std::chrono::microseconds(1) || spin > std::chrono::milliseconds(10)) {
    return absl::InvalidArgumentError("polling.spin must be 1 us to 10 ms");
  }
  return absl::OkStatus();
}

void AdaptiveSpin::Begin(TimePoint now) {
  idle_ = false;
  polls_ = 0;
  last_work_ = now;
}

void AdaptiveSpin::OnWork(TimePoint found, TimePoint done) {
  if (idle_) Count(found - last_work_ <= options_.spin + (pays() ? Duration(0) : kTwoWakeUps));
  idle_ = false;
  polls_ = 0;
  last_work_ = done;
}

AdaptiveSpin::Decision AdaptiveSpin::OnIdle(TimePoint now) {
  idle_ = true;
  switch (options_.mode) {
    case PollingMode::kEvent:
      return Decision::kSleep;
    case PollingMode::kBusy:
      return Spin(kBusyPollsPerYield);
    case PollingMode::kAdaptive:
      break;
  }
  if (!pays() || now - last_work_ > options_.spin) return Decision::kSleep;
  return Spin(kPollsPerYield);
}

AdaptiveSpin::Decision AdaptiveSpin::Spin(int polls_per_yield) {
  if (++polls_ < polls_per_yield) return Decision::kPoll;
  polls_ = 0;
  return Decision::kYield;
}

void AdaptiveSpin::OnYielded(Duration took) {
  if (took > kOthersRan) Count(false);
}

void AdaptiveSpin::Count(bool paid) {
  const bool paid_before = pays();
  score_ = std::clamp(score_ + (paid ? 1 : -1), 0, kMaxScore);
  if (paid_before && !pays()) score_ = 0;
}

}  // namespace farcall
