// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/wake_fds.h"

#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <cerrno>
#include <cstdint>

#include "transport/base/check.h"

namespace farcall {

absl::StatusOr<WakeFds> WakeFds::Create() {
  UniqueFd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.valid()) return absl::ErrnoToStatus(errno, "an event loop needs eventfd");
  UniqueFd timer(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!timer.valid()) return absl::ErrnoToStatus(errno, "an event loop needs timerfd_create");
  return WakeFds(std::move(event), std::move(timer));
}

void WakeFds::Wake() {
  const uint64_t one = 1;
  // EAGAIN: the counter is full, so the loop is woken all the same.
  Check(::write(event_.get(), &one, sizeof(one)) == sizeof(one) || errno == EAGAIN,
        "an eventfd takes a count");
}

void WakeFds::ArmTimer(std::optional<TimePoint> when) {
  if (!when || (armed_ && *armed_ <= *when)) return;
  const auto since = when->time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since);
  itimerspec spec{};
  spec.it_value.tv_sec = seconds.count();
  spec.it_value.tv_nsec = std::chrono::nanoseconds(since - seconds).count();
  // All zero would disarm it.
  if (spec.it_value.tv_sec == 0 && spec.it_value.tv_nsec == 0) spec.it_value.tv_nsec = 1;
  Check(::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &spec, nullptr) == 0,
        "a timerfd takes a monotonic time");
  armed_ = when;
}

}  // namespace farcall
