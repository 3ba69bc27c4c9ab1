// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BASE_THREADS_QUICK_LOCK_H_
#define FARCALL_TRANSPORT_BASE_THREADS_QUICK_LOCK_H_

#include <atomic>
#include <cstdint>

namespace farcall {

// What a std::mutex is, for a lock that is taken several times for each call and hardly ever found
// taken: "the loop is held", say. That costs two instructions here, and sixty there. Who finds it
// taken sleeps in the kernel until it is free. Any thread; use it by lock and unlock, or
// std::lock_guard.
class QuickLock {
 public:
  QuickLock() = default;
  QuickLock(const QuickLock&) = delete;
  QuickLock& operator=(const QuickLock&) = delete;

  bool try_lock() {
    uint32_t free = kFree;
    return state_.compare_exchange_strong(free, kHeld, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }
  void lock() {
    if (try_lock()) return;
    // From now on it says that a thread may sleep, also while this thread holds it: others may
    // have gone to sleep meanwhile.
    while (state_.exchange(kAwaited, std::memory_order_acquire) != kFree) {
      state_.wait(kAwaited, std::memory_order_relaxed);
    }
  }
  void unlock() {
    if (state_.exchange(kFree, std::memory_order_release) == kAwaited) [[unlikely]]
      state_.notify_one();
  }

 private:
  static constexpr uint32_t kFree = 0;
  static constexpr uint32_t kHeld = 1;
  static constexpr uint32_t kAwaited = 2;  // held, and a thread may sleep

  std::atomic<uint32_t> state_{kFree};
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_THREADS_QUICK_LOCK_H_
