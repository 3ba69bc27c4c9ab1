// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BASE_THREADS_IN_FLIGHT_BY_PART_H_
#define FARCALL_TRANSPORT_BASE_THREADS_IN_FLIGHT_BY_PART_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>

#include "transport/base/threads/in_flight.h"
#include "transport/base/time.h"

namespace farcall {

// InFlight for what begins often, on many loops: each counts in a part of its own, so that no two
// of them write to the same cache line. Any thread. Unlike InFlight it must outlive the last End.
class InFlightByPart {
 public:
  // `part`: any number; two that differ by a multiple of kParts share one.
  void Begin(size_t part) { At(part).fetch_add(1); }
  // Of what began in the same part.
  void End(size_t part) {
    // Who waits says so first and counts second; this does it the other way round.
    if (At(part).fetch_sub(1) != 1 || !waited_for_.load()) return;
    std::lock_guard<std::mutex> lock(mutex_);
    none_.notify_all();
  }
  // 0 is exact where nothing begins any more.
  int count() const {
    int sum = 0;
    for (const Part& part : parts_) sum += part.count.load();
    return sum;
  }

  // Until the count is 0, at most for `timeout`; returns the count. What begins meanwhile may be
  // waited for, or not.
  int WaitForNone(Duration timeout) {
    std::unique_lock<std::mutex> lock(mutex_);
    waited_for_ = true;
    none_.wait_for(lock, std::min(timeout, InFlight::kLongestWait),
                   [this] { return count() == 0; });
    return count();
  }
  void WaitForNone() {
    std::unique_lock<std::mutex> lock(mutex_);
    waited_for_ = true;
    none_.wait(lock, [this] { return count() == 0; });
  }

 private:
  static constexpr size_t kParts = 64;
  struct alignas(64) Part {
    std::atomic<int> count{0};
  };

  std::atomic<int>& At(size_t part) { return parts_[part % kParts].count; }

  std::array<Part, kParts> parts_;
  std::atomic<bool> waited_for_{false};
  std::mutex mutex_;
  std::condition_variable none_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_THREADS_IN_FLIGHT_BY_PART_H_
