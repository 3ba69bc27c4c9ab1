// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_RECONNECT_H_
#define FARCALL_RPC_SESSION_RECONNECT_H_

#include <algorithm>

#include "absl/status/status.h"
#include "transport/base/time.h"

namespace farcall {

// When a target that could not be reached may be tried again: a pause that doubles with
// each failure in a row, so that a dead server is not hammered; calls in the pause fail
// at once with the last error. Pure.
class Reconnect {
 public:
  static constexpr Duration kFirstPause = std::chrono::milliseconds(5);
  static constexpr Duration kLongestPause = std::chrono::milliseconds(200);

  // OK, or why not now.
  absl::Status MayTry(TimePoint now) const { return now < next_ ? last_error_ : absl::OkStatus(); }
  // The last attempt failed, if there was one.
  bool failing() const { return pause_ != Duration::zero(); }
  void OnFailure(TimePoint now, const absl::Status& why) {
    pause_ = std::clamp(2 * pause_, kFirstPause, kLongestPause);
    next_ = now + pause_;
    last_error_ = why;
  }
  void OnSuccess() {
    pause_ = Duration::zero();
    next_ = TimePoint::min();
  }

 private:
  Duration pause_ = Duration::zero();
  TimePoint next_ = TimePoint::min();
  absl::Status last_error_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_RECONNECT_H_
