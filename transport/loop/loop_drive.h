// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_LOOP_DRIVE_H_
#define FARCALL_TRANSPORT_LOOP_LOOP_DRIVE_H_

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "transport/base/clock.h"
#include "transport/loop/drive/drive_turns.h"
#include "transport/loop/drive/polling.h"

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

  // --- Of the visitor that drives; the loop is not held.
  AdaptiveSpin& driving_spin() { return driving_spin_; }
  bool thread_wanted() const { return thread_wanted_.load(std::memory_order_relaxed); }
  void Leave(LoopVisitor& visitor, EventLoop& loop);
  // kSpin or kSleep, or kDone.
  Part GiveToThread(LoopVisitor& visitor);

  // --- Of the thread that drives; the loop is not held. False: it goes on. True: the loop was left
  // to others, and the thread drives again.
  bool GiveAway(EventLoop& loop);

  // --- Any thread, also with the loop held.
  // The call that `visitor` waits for has ended: `visitor` may be gone when this returns.
  void EndOf(LoopVisitor& visitor);
  // There is work for the thread where no thread drives.
  void WantThread();

 private:
  void Notify(std::unique_lock<std::mutex> lock, DriveTurns::Notice notice);
  Part Wait(LoopVisitor& visitor);

  SteadyClock clock_;  // of threads that wait; the loop's own may stand still
  // Whether a visitor came since the thread last found none: a look without the mutex.
  std::atomic<bool> visited_{false};
  std::atomic<bool> thread_wanted_{false};
  std::atomic<bool> spin_taken_{false};
  AdaptiveSpin driving_spin_{PollingOptions()};  // of the visitor that drives
  AdaptiveSpin waiting_spin_{PollingOptions()};  // of who has taken spin_taken_

  std::mutex mutex_;
  std::condition_variable thread_notified_;
  DriveTurns turns_;  // guarded by mutex_
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_LOOP_DRIVE_H_
