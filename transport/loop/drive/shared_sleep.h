// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_DRIVE_SHARED_SLEEP_H_
#define FARCALL_TRANSPORT_LOOP_DRIVE_SHARED_SLEEP_H_

#include <atomic>
#include <cstdint>

namespace farcall {

// Threads that sleep at one word, so that any of them are woken by one system call: futex(2),
// FUTEX_WAKE_BITSET. Any thread.
class SharedSleep {
 public:
  SharedSleep() = default;
  SharedSleep(const SharedSleep&) = delete;
  SharedSleep& operator=(const SharedSleep&) = delete;

  // The bit of one more sleeper: all 32 in turns. Who has the same as another is woken with it.
  uint32_t NextBit();
  // To be read before a sleeper looks whether it has been notified.
  uint32_t wakes() const { return wakes_.load(std::memory_order_acquire); }
  // Sleeps until Wake with `bit`; not if there was a Wake since wakes() was `seen`. Sometimes
  // returns earlier: what is waited for is to be looked at again.
  void Sleep(uint32_t seen, uint32_t bit) const;
  // After its sleepers were notified, each in its own way.
  void Wake(uint32_t bits);

 private:
  std::atomic<uint32_t> wakes_{0};
  std::atomic<uint32_t> bits_{0};  // that were given
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_DRIVE_SHARED_SLEEP_H_
