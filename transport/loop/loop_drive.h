// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_LOOP_DRIVE_H_
#define FARCALL_TRANSPORT_LOOP_LOOP_DRIVE_H_

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

#include "transport/base/clock.h"
#include "transport/loop/drive/drive_turns.h"
#include "transport/loop/drive/polling.h"
#include "transport/loop/drive/shared_sleep.h"

namespace farcall {

class EventLoop;

// The drive of a loop, on threads: DriveTurns, and how those that it names are notified. Of a loop
// without a LoopDriver, which is stepped by hand, no visitor gets it.
class LoopDrive {
 public:
  enum class Part : uint8_t { kDrive, kSpin, kSleep, kDone };

  LoopDrive() = default;
  LoopDrive(const LoopDrive&) = delete;
  LoopDrive& operator=(const LoopDrive&) = delete;

  // Before visitors come. How they look for work while they drive, or wait.
  void SetPolling(const PollingOptions& options);

  // --- Of a visitor; the loop is not held.
  // kDone: its call has ended. kSpin: waiting_spin() is its own until EndSpin.
  Part Arrive(LoopVisitor& visitor);
  // It has spun long enough and sleeps.
  void StopSpinning(LoopVisitor& visitor);
  void EndSpin() { spin_taken_.store(false, std::memory_order_release); }
  AdaptiveSpin& waiting_spin() { return waiting_spin_; }
  const SharedSleep& sleepers() const { return sleepers_; }

  // --- Of the visitor that drives; the loop is not held.
  AdaptiveSpin& driving_spin() { return driving_spin_; }
  bool thread_wanted() const { return thread_wanted_.load(std::memory_order_relaxed); }
  void Leave(LoopVisitor& visitor, EventLoop& loop);
  // kSpin or kSleep, or kDone.
  Part GiveToThread(LoopVisitor& visitor);

  // --- Of the thread that drives; the loop is not held. False: it goes on. True: the loop was left
  // to others, and the thread drives again.
  bool GiveAway(EventLoop& loop);

  // --- With the loop held.
  // The call that `visitor` waits for has ended: `visitor` may be gone when this returns. If it
  // sleeps it is woken; among many, when the hold ends.
  void EndOf(LoopVisitor& visitor);
  // The hold ends. Returns those that are to be woken, for Wake. A thread that is woken takes the
  // processor from who wakes it, and so would find the loop held.
  uint32_t EndHold() {
    if (ended_ == 0) return 0;
    ended_before_ = std::exchange(ended_, 0);
    return std::exchange(asleep_, 0);
  }
  void Wake(uint32_t asleep) { sleepers_.Wake(asleep); }
  // Whether a caller leaves what it sends to who drives, if that is awake: a visitor drives, which
  // runs no user code in between, and many wait.
  bool VisitorFlushes() const {
    return visitor_drives_.load(std::memory_order_relaxed) && ManyWait();
  }

  // --- Any thread, also with the loop held.
  // There is work for the thread where no thread drives.
  void WantThread();

 private:
  // So many visitors of one loop share system calls. Fewer are served one by one: each goes on at
  // once, on a processor of its own if there is one. With four neither way was faster.
  static constexpr size_t kMany = 5;

  // Of those whose calls have just ended most call again, and then wait.
  bool ManyWait() const {
    return std::max(ended_, ended_before_) + waiting_.load(std::memory_order_relaxed) >= kMany;
  }
  void Publish();
  void Notify(std::unique_lock<std::mutex> lock, DriveTurns::Notice notice);
  Part Wait(LoopVisitor& visitor);

  SteadyClock clock_;  // of threads that wait; the loop's own may stand still
  // Whether a visitor came since the thread last found none: a look without the mutex.
  std::atomic<bool> visited_{false};
  // What Publish copies from turns_, to be read without the mutex.
  std::atomic<bool> thread_wanted_{false};
  std::atomic<bool> visitor_drives_{false};
  std::atomic<size_t> waiting_{0};
  std::atomic<bool> spin_taken_{false};
  AdaptiveSpin driving_spin_{PollingOptions()};  // of the visitor that drives
  AdaptiveSpin waiting_spin_{PollingOptions()};  // of who has taken spin_taken_
  SharedSleep sleepers_;
  // Guarded by the hold of the loop.
  size_t ended_ = 0;         // calls, in this hold
  size_t ended_before_ = 0;  // in the last one in which some did
  uint32_t asleep_ = 0;      // wake bits of those whose calls these were

  std::mutex mutex_;
  std::condition_variable thread_notified_;
  DriveTurns turns_;  // guarded by mutex_
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_LOOP_DRIVE_H_
