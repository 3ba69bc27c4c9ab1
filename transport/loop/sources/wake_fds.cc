// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/sources/wake_fds.h"

#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "transport/base/check.h"

namespace farcall {

absl::StatusOr<WakeFds> WakeFds::Create() {
  UniqueFd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.valid())
    return absl::ErrnoToStatus(errno, "an event loop needs eventfd; look at ulimit -n");
  UniqueFd timer(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!timer.valid())
    return absl::ErrnoToStatus(errno, "an event loop needs timerfd_create; look at ulimit -n");
  return WakeFds(std::move(event), std::move(timer));
}

void WakeFds::Wake() {
  const uint64_t one = 1;
  // The counter would be full, and the write refused, after 2^64 - 2 of them.
  Check(::write(event_.get(), &one, sizeof(one)) == sizeof(one), "an eventfd takes a count");
}

void WakeFds::ArmTimer(std::optional<TimePoint> when, TimePoint now) {
  if (!when || (armed_ && *armed_ > now && *armed_ <= *when)) return;
  // Zero would disarm it, and times before the epoch are refused: what is past is due.
  const Duration since = std::max(when->time_since_epoch(), Duration(1));
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since);
  itimerspec spec{};
  spec.it_value.tv_sec = seconds.count();
  spec.it_value.tv_nsec = std::chrono::nanoseconds(since - seconds).count();
  Check(::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &spec, nullptr) == 0,
        "a timerfd takes a monotonic time");
  armed_ = when;
}

}  // namespace farcall
