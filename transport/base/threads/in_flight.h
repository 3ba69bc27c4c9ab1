// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BASE_THREADS_IN_FLIGHT_H_
#define FARCALL_TRANSPORT_BASE_THREADS_IN_FLIGHT_H_

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "transport/base/time.h"

namespace farcall {

// Counts what is under way, and waits until nothing is. Any thread. Once a wait has
// ended with 0 and nothing begins any more, it may be destroyed.
class InFlight {
 public:
  // A sum with the time now must not overflow: for ever is a year.
  static constexpr Duration kLongestWait = std::chrono::hours(24 * 365);

  // False, and not counted: `limit` (0: none) is reached.
  bool Begin(int limit = 0) {
    int count = count_.load();
    do {
      if (limit != 0 && count >= limit) return false;
    } while (!count_.compare_exchange_weak(count, count + 1));
    return true;
  }
  void End() {
    int count = count_.load();
    while (count > 1) {
      if (count_.compare_exchange_weak(count, count - 1)) return;
    }
    // To 0 only under the lock: who waits is neither asleep unseen nor gone before this is over.
    std::lock_guard<std::mutex> lock(mutex_);
    if (count_.fetch_sub(1) == 1) zero_.notify_all();
  }
  int count() const { return count_.load(); }

  // Until the count is 0, at most for `timeout`; returns the count.
  int WaitForNone(Duration timeout) {
    std::unique_lock<std::mutex> lock(mutex_);
    zero_.wait_for(lock, std::min(timeout, kLongestWait), [this] { return count() == 0; });
    return count();
  }
  void WaitForNone() {
    std::unique_lock<std::mutex> lock(mutex_);
    zero_.wait(lock, [this] { return count() == 0; });
  }

 private:
  std::atomic<int> count_{0};
  std::mutex mutex_;
  std::condition_variable zero_;
};

// One of those under way, as long as it lives.
class InFlightOne {
 public:
  // Null: not counted.
  explicit InFlightOne(InFlight* among) : among_(among) {
    if (among_ != nullptr) among_->Begin();
  }
  InFlightOne(const InFlightOne&) = delete;
  InFlightOne& operator=(const InFlightOne&) = delete;
  ~InFlightOne() {
    if (among_ != nullptr) among_->End();
  }

 private:
  InFlight* const among_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_THREADS_IN_FLIGHT_H_
