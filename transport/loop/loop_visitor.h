// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_LOOP_VISITOR_H_
#define FARCALL_TRANSPORT_LOOP_LOOP_VISITOR_H_

#include <atomic>
#include <cstdint>

#include "transport/loop/event_loop.h"

namespace farcall {

// A thread that waits for something to happen on a loop, and drives the loop meanwhile if no one
// else does. It runs no user code: where some waits, the loop's own thread gets the drive.
class LoopVisitor {
 public:
  LoopVisitor() = default;
  LoopVisitor(const LoopVisitor&) = delete;
  LoopVisitor& operator=(const LoopVisitor&) = delete;

  // What is waited for has happened. Once, with `loop` held. The visitor may be gone when this
  // returns.
  void Done(EventLoop& loop);
  // By the one thread that waits; no loop held, and it drives none (BeforeBlocking). Returns once
  // Done was called, with the same loop.
  void Wait(EventLoop& loop);

  // --- Of LoopDrive, with its mutex.
  bool done() const { return (word_.load(std::memory_order_acquire) & kDone) != 0; }
  // Before it may sleep.
  void SetWakeBit(uint32_t bit) { wake_bit_ = bit; }
  // Both return its wake bit if it sleeps, else 0.
  uint32_t SetDone() { return Set(kDone); }
  uint32_t SetDrives() { return Set(kDrives); }
  void ClearDrives() { word_.fetch_and(~kDrives, std::memory_order_relaxed); }

 private:
  static constexpr uint32_t kDone = 1;
  static constexpr uint32_t kDrives = 2;  // has the drive
  static constexpr uint32_t kSleeps = 4;

  uint32_t Set(uint32_t bit);
  bool notified() const { return (word_.load(std::memory_order_acquire) & (kDone | kDrives)) != 0; }
  bool drives() const { return (word_.load(std::memory_order_acquire) & kDrives) != 0; }
  void SpinUntilNotified(EventLoop& loop);
  void SleepUntilNotified(EventLoop& loop);
  bool Drive(EventLoop& loop);

  std::atomic<uint32_t> word_{0};
  uint32_t wake_bit_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_LOOP_VISITOR_H_
