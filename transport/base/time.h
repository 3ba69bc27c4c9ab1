// SPDX-License-Identifier: Apache-2.0
//
// Time is given from outside: who needs the time takes a Clock or a TimePoint.
// Only SteadyClock asks the operating system, so that a test can hold the time.

#ifndef FARCALL_TRANSPORT_BASE_TIME_H_
#define FARCALL_TRANSPORT_BASE_TIME_H_

#include <chrono>

namespace farcall {

// Monotonic, nanoseconds; never the calendar.
using TimePoint = std::chrono::steady_clock::time_point;
using Duration = std::chrono::steady_clock::duration;

class Clock {
 public:
  virtual ~Clock() = default;
  // Never goes back. Any thread.
  virtual TimePoint Now() const = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_TIME_H_
