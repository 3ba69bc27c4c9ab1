// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/drivers/loop_monitor.h"

#include <algorithm>
#include <utility>

#include "transport/base/check.h"
#include "transport/base/threads/thread.h"
#include "transport/loop/drivers/loop_driver.h"

namespace farcall {

absl::StatusOr<std::unique_ptr<LoopMonitor>> LoopMonitor::Start(OnStall on_stall) {
  auto monitor = std::make_unique<LoopMonitor>(std::move(on_stall));
  auto thread = StartThread("farcall-monitor", [raw = monitor.get()] { raw->Run(); });
  if (!thread.ok()) return thread.status();
  monitor->thread_ = *std::move(thread);
  return monitor;
}

LoopMonitor::~LoopMonitor() {
  Check(drivers_.empty(), "a monitor outlives its drivers");
  if (!thread_.joinable()) return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

LoopMonitor::Counts LoopMonitor::counts() const {
  return {taken_over_.load(std::memory_order_relaxed), stalled_.load(std::memory_order_relaxed)};
}

void LoopMonitor::Add(LoopDriver& driver) {
  {
    std::lock_guard<std::mutex> lock(drivers_mutex_);
    drivers_.push_back(&driver);
  }
  // Its first user code may have begun before.
  Wake();
}

void LoopMonitor::Remove(LoopDriver& driver) {
  std::lock_guard<std::mutex> lock(drivers_mutex_);
  std::erase(drivers_, &driver);
}

bool LoopMonitor::Look() {
  bool quiet = true;
  calm_looks_ = std::min(calm_looks_ + 1, kCalmLooks);
  std::lock_guard<std::mutex> lock(drivers_mutex_);
  for (LoopDriver* const driver : drivers_) {
    const LoopDriver::Seen seen = driver->Look();
    quiet &= seen.what == ClaimLook::Seen::kQuiet;
    if (seen.what == ClaimLook::Seen::kLong) calm_looks_ = 0;
    if (seen.taken_over) taken_over_.fetch_add(1, std::memory_order_relaxed);
    if (seen.stalled.ok()) continue;
    stalled_.fetch_add(1, std::memory_order_relaxed);
    const TimePoint now = std::chrono::steady_clock::now();
    if (on_stall_ == nullptr || now < next_log_) continue;
    next_log_ = now + kLogEvery;
    on_stall_(seen.name, seen.stalled);
  }
  return !quiet;
}

bool LoopMonitor::PrepareSleep() {
  asleep_.store(true, std::memory_order_relaxed);
  // A driver begins a piece under its loop's mutex and looks at asleep_ then; this looks at the
  // drive under the same mutex: one of them sees the other.
  std::lock_guard<std::mutex> lock(drivers_mutex_);
  const bool sleep = std::all_of(drivers_.begin(), drivers_.end(),
                                 [](LoopDriver* driver) { return driver->StillQuiet(); });
  if (!sleep) asleep_.store(false, std::memory_order_relaxed);
  return sleep;
}

void LoopMonitor::Run() {
  for (;;) {
    {
      std::unique_lock<std::mutex> lock(mutex_);
      if (wake_.wait_for(lock, pause(), [this] { return stop_; })) return;
    }
    if (!Look() && PrepareSleep()) Sleep();
  }
}

void LoopMonitor::Sleep() {
  std::unique_lock<std::mutex> lock(mutex_);
  wake_.wait(lock, [this] { return woken_ || stop_; });
  woken_ = false;
  asleep_.store(false, std::memory_order_relaxed);
}

void LoopMonitor::Wake() {
  if (!asleep_.exchange(false)) return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    woken_ = true;
  }
  wake_.notify_one();
}

}  // namespace farcall
