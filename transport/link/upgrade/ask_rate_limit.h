// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_UPGRADE_ASK_RATE_LIMIT_H_
#define FARCALL_TRANSPORT_LINK_UPGRADE_ASK_RATE_LIMIT_H_

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "transport/base/time.h"
#include "transport/link_options.h"

namespace farcall {

// How often the client of one connection may ask to be upgraded. Each ask takes a token, a
// task on the control loop and an answer, which a client that reads nothing makes pile up: so
// who asks faster than a client may is cut off. Pure.
class AskRateLimit {
 public:
  // In a row, for asks that a slow network brings together; of each rail.
  static constexpr uint32_t kBurst = 8;

  // Half of the client's UpgradeTimes::first_pause is the least between two asks; here a quarter
  // counts, so that clocks need not agree. `first_pause` is this end's own: the client's may be
  // less, but not less than kMinUpgradePause. Each of several `rails` is asked for by itself.
  AskRateLimit(Duration first_pause, TimePoint now, uint32_t rails = 1)
      : burst_(kBurst * rails),
        interval_(std::min(first_pause, kMinUpgradePause) / 4 / rails),
        refilled_(now),
        left_(burst_) {}

  // An ask came. kResourceExhausted: one too many.
  absl::Status OnAsk(TimePoint now) {
    const auto due = interval_ > Duration::zero() ? (now - refilled_) / interval_ : burst_;
    if (due >= static_cast<int64_t>(burst_ - left_)) {
      left_ = burst_;
      refilled_ = now;
    } else {
      left_ += static_cast<uint32_t>(due);
      refilled_ += due * interval_;
    }
    if (left_ == 0) {
      const auto each = std::chrono::duration_cast<std::chrono::milliseconds>(interval_).count();
      return absl::ResourceExhaustedError(absl::StrCat(
          "the peer sent more than ", burst_, " UPGRADE_ASK faster than one in ", each, " ms"));
    }
    --left_;
    return absl::OkStatus();
  }

 private:
  const uint32_t burst_;
  const Duration interval_;
  TimePoint refilled_;
  uint32_t left_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_UPGRADE_ASK_RATE_LIMIT_H_
