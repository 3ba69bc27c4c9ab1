// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/loop_drive.h"

#include <chrono>
#include <optional>
#include <utility>

#include "transport/loop/event_loop.h"
#include "transport/loop/loop_visitor.h"

namespace farcall {

void LoopDrive::SetPolling(const PollingOptions& options) {
  driving_spin_ = AdaptiveSpin(options);
  PollingOptions waiting = options;
  // One core for a loop that never sleeps is enough.
  if (waiting.mode == PollingMode::kBusy) waiting.mode = PollingMode::kAdaptive;
  waiting_spin_ = AdaptiveSpin(waiting);
}

LoopDrive::Part LoopDrive::Arrive(LoopVisitor& visitor) {
  const TimePoint now = clock_.Now();
  std::lock_guard<std::mutex> lock(mutex_);
  if (visitor.done()) return Part::kDone;
  if (turns_.Arrive(visitor, now)) {
    visitor.SetDrives();
    Publish();
    return Part::kDrive;
  }
  visited_.store(true, std::memory_order_relaxed);
  return Wait(visitor);
}

LoopDrive::Part LoopDrive::Wait(LoopVisitor& visitor) {
  Publish();
  visitor.SetWakeBit(sleepers_.NextBit());
  if (spin_taken_.exchange(true, std::memory_order_acquire)) return Part::kSleep;
  turns_.SetSpins(visitor, true);
  return Part::kSpin;
}

void LoopDrive::StopSpinning(LoopVisitor& visitor) {
  std::lock_guard<std::mutex> lock(mutex_);
  turns_.SetSpins(visitor, false);
}

void LoopDrive::Leave(LoopVisitor& visitor, EventLoop& loop) {
  const TimePoint now = clock_.Now();
  std::unique_lock<std::mutex> lock(mutex_);
  visitor.ClearDrives();
  bool rest = false;
  if (!turns_.AnyNext()) {
    lock.unlock();
    rest = loop.LeaveAlone();
    lock.lock();
  }
  Notify(std::move(lock), turns_.Leave(rest, now));
}

LoopDrive::Part LoopDrive::GiveToThread(LoopVisitor& visitor) {
  std::unique_lock<std::mutex> lock(mutex_);
  visitor.ClearDrives();
  if (visitor.done()) {
    Notify(std::move(lock), turns_.Leave(/*rest=*/false, clock_.Now()));
    return Part::kDone;
  }
  visited_.store(true, std::memory_order_relaxed);
  const DriveTurns::Notice notice = turns_.GiveToThread(visitor);
  const Part part = Wait(visitor);
  Notify(std::move(lock), notice);
  return part;
}

bool LoopDrive::GiveAway(EventLoop& loop) {
  if (!visited_.load(std::memory_order_relaxed) || loop.thread_needed()) return false;
  std::unique_lock<std::mutex> lock(mutex_);
  if (!turns_.ThreadMayGive(clock_.Now())) {
    visited_.store(false, std::memory_order_relaxed);
    return false;
  }
  lock.unlock();
  if (!loop.LeaveAlone()) return false;
  lock.lock();
  const std::optional<DriveTurns::Notice> notice = turns_.ThreadGives(clock_.Now());
  Publish();
  if (notice) {
    Notify(std::move(lock), *notice);
    lock = std::unique_lock<std::mutex>(mutex_);
    while (const auto until = turns_.ThreadLooks(clock_.Now())) {
      if (*until == TimePoint::max()) {
        thread_notified_.wait(lock);
      } else {
        thread_notified_.wait_until(lock, *until);
      }
    }
  }
  lock.unlock();
  loop.Attend();
  return notice.has_value();
}

void LoopDrive::EndOf(LoopVisitor& visitor) {
  std::unique_lock<std::mutex> lock(mutex_);
  turns_.Forget(visitor);
  Publish();
  const uint32_t asleep = visitor.SetDone();
  lock.unlock();
  ++ended_;
  if (asleep == 0) return;
  if (ManyWait()) {
    asleep_ |= asleep;
  } else {
    sleepers_.Wake(asleep);
  }
}

void LoopDrive::WantThread() {
  std::unique_lock<std::mutex> lock(mutex_);
  Notify(std::move(lock), turns_.ThreadWanted());
}

void LoopDrive::Publish() {
  thread_wanted_.store(turns_.thread_wanted(), std::memory_order_relaxed);
  visitor_drives_.store(turns_.visitor_drives(), std::memory_order_relaxed);
  waiting_.store(turns_.waiting(), std::memory_order_relaxed);
}

void LoopDrive::Notify(std::unique_lock<std::mutex> lock, DriveTurns::Notice notice) {
  Publish();
  const uint32_t asleep = notice.visitor != nullptr ? notice.visitor->SetDrives() : 0;
  lock.unlock();
  if (asleep != 0) sleepers_.Wake(asleep);
  if (notice.thread) thread_notified_.notify_one();
}

}  // namespace farcall
