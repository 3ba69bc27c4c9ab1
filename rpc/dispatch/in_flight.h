// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_DISPATCH_IN_FLIGHT_H_
#define FARCALL_RPC_DISPATCH_IN_FLIGHT_H_

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "transport/base/time.h"

namespace farcall {

// Counts what is under way, and waits until nothing is. Any thread.
class InFlight {
 public:
  // False, and not counted: `limit` (0: none) is reached.
  bool Begin(int limit = 0) {
    if (count_.fetch_add(1, std::memory_order_relaxed) < limit || limit == 0) return true;
    End();
    return false;
  }
  void End() {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    // The lock closes the gap between a waiter's look and its sleep.
    std::lock_guard<std::mutex> lock(mutex_);
    zero_.notify_all();
  }
  int count() const { return count_.load(std::memory_order_acquire); }

  // Until the count is 0, at most for `patience`; returns the count.
  int WaitForNone(Duration patience) {
    std::unique_lock<std::mutex> lock(mutex_);
    zero_.wait_for(lock, patience, [this] { return count() == 0; });
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

}  // namespace farcall

#endif  // FARCALL_RPC_DISPATCH_IN_FLIGHT_H_
