// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BASE_THREADS_SPIN_LOCK_H_
#define FARCALL_TRANSPORT_BASE_THREADS_SPIN_LOCK_H_

#include <atomic>
#include <thread>

namespace farcall {

// For a few loads and stores that two threads hardly ever want at the same
// time: where no other thread does, it takes a tenth of a mutex's instructions.
// Nothing that waits, allocates or runs code of others is done under it. Use it
// by std::lock_guard.
class SpinLock {
 public:
  SpinLock() = default;
  SpinLock(const SpinLock&) = delete;
  SpinLock& operator=(const SpinLock&) = delete;

  void lock() {
    // Who holds it for longer was put to sleep by the kernel: let it go on.
    while (locked_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() { locked_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> locked_{false};
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_THREADS_SPIN_LOCK_H_
