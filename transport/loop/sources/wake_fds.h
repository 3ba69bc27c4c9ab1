// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_SOURCES_WAKE_FDS_H_
#define FARCALL_TRANSPORT_LOOP_SOURCES_WAKE_FDS_H_

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/base/time.h"
#include "transport/base/unique_fd.h"

namespace farcall {

// What ends a loop's sleep besides its sources: an eventfd for the mailbox, and a
// timerfd for the timers.
class WakeFds {
 public:
  static absl::StatusOr<WakeFds> Create();

  // Any thread.
  void Wake();

  // With the loop held. Both descriptors are watched edge-triggered and never read: each
  // write and each expiry is an edge of its own, a late one costs one empty wake-up, and
  // no system call is spent on clearing.
  int event_fd() const { return event_.get(); }
  int timer_fd() const { return timer_.get(); }
  // The timer descriptor becomes readable at `when`, or earlier if it was set so before
  // for a time after `now`: an early wake-up costs less than a system call for
  // each deadline.
  void ArmTimer(std::optional<TimePoint> when, TimePoint now);
  // The timer descriptor had its edge. There is no other, whatever the clock says: it
  // may be read a little behind the kernel's.
  void OnTimer() { armed_.reset(); }

 private:
  WakeFds(UniqueFd event, UniqueFd timer) : event_(std::move(event)), timer_(std::move(timer)) {}

  UniqueFd event_;
  UniqueFd timer_;
  std::optional<TimePoint> armed_;  // when the next edge of timer_ comes
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_SOURCES_WAKE_FDS_H_
