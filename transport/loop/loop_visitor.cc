// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/loop_visitor.h"

#include "transport/loop/drive/spin.h"
#include "transport/loop/wait_for_work.h"

namespace farcall {

void LoopVisitor::Done(EventLoop& loop) {
  loop.drive().EndOf(*this);
  // It may be the one that sleeps there.
  loop.EndSleep();
}

void LoopVisitor::Wait(EventLoop& loop) {
  LoopDrive::Part part = loop.drive().Arrive(*this);
  while (part != LoopDrive::Part::kDone) {
    if (part == LoopDrive::Part::kSpin) SpinUntilNotified(loop);
    if (part != LoopDrive::Part::kDrive) SleepUntilNotified(loop);
    if (!drives()) return;
    if (Drive(loop)) return loop.drive().Leave(*this, loop);
    part = loop.drive().GiveToThread(*this);
  }
}

// False: there is work that is the thread's, and its call has not ended.
bool LoopVisitor::Drive(EventLoop& loop) {
  LoopDrive& drive = loop.drive();
  AdaptiveSpin& spin = drive.driving_spin();
  loop.Attend();
  spin.Begin(loop.clock().Now());
  for (;;) {
    const bool worked = loop.Turn();
    bool for_thread = drive.thread_wanted() || loop.thread_needed();
    if (worked) {
      const TimePoint found = loop.clock().Now();
      for_thread |= loop.FlushAndFindUser();
      spin.OnWork(found, loop.clock().Now());
    }
    if (done()) return true;
    if (for_thread) return false;
    if (!worked) WaitForWork(loop, spin, [this] { return done(); });
  }
}

void LoopVisitor::SpinUntilNotified(EventLoop& loop) {
  LoopDrive& drive = loop.drive();
  AdaptiveSpin& spin = drive.waiting_spin();
  const Clock& clock = loop.clock();
  TimePoint now = clock.Now();
  const TimePoint began = now;
  spin.Begin(now);
  for (auto next = spin.OnIdle(now); !notified(); next = spin.OnIdle(now)) {
    if (next == AdaptiveSpin::Decision::kSleep) {
      drive.StopSpinning(*this);
      // Where spinning does not pay, what it would have gained is seen after the sleep.
      if (now == began) SleepUntilNotified(loop);
      break;
    }
    if (next == AdaptiveSpin::Decision::kYield) {
      sched_yield();
      spin.OnYielded(clock.Now() - now);
    } else {
      SpinPause();
    }
    now = clock.Now();
  }
  now = clock.Now();
  spin.OnWork(now, now);
  drive.EndSpin();
}

void LoopVisitor::SleepUntilNotified(EventLoop& loop) {
  const SharedSleep& sleepers = loop.drive().sleepers();
  word_.fetch_or(kSleeps, std::memory_order_acquire);
  for (uint32_t seen = sleepers.wakes(); !notified(); seen = sleepers.wakes()) {
    sleepers.Sleep(seen, wake_bit_);
  }
  word_.fetch_and(~kSleeps, std::memory_order_relaxed);
}

uint32_t LoopVisitor::Set(uint32_t bit) {
  // Who sees kDone may destroy the visitor at once.
  const uint32_t wake_bit = wake_bit_;
  const uint32_t before = word_.fetch_or(bit, std::memory_order_release);
  return (before & kSleeps) != 0 ? wake_bit : 0;
}

}  // namespace farcall
