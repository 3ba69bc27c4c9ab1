// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_SHIFTED_CLOCK_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_SHIFTED_CLOCK_H_

#include <atomic>

#include "transport/base/clock.h"

namespace farcall {

// The time of this machine, and what tests add. Any thread.
class ShiftedClock final : public Clock {
 public:
  TimePoint Now() const override { return SteadyClock().Now() + Duration(shift_.load()); }
  void Add(Duration time) { shift_ += time.count(); }

 private:
  std::atomic<Duration::rep> shift_{0};
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_SHIFTED_CLOCK_H_
