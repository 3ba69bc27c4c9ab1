// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/common/call_load.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace farcall::bench {
namespace {

CallLoad::Time Now() { return std::chrono::steady_clock::now(); }

// Spinning for less than this is finer than sleeping.
constexpr std::chrono::microseconds kTooShortToSleep{100};
// At least so often a pacer that sleeps looks whether it was stopped.
constexpr std::chrono::milliseconds kLongestSleep{100};

void SleepUntil(CallLoad::Time due, const std::atomic<bool>& stopped) {
  while (!stopped) {
    const auto wait = due - Now();
    if (wait <= CallLoad::Time::duration::zero()) return;
    if (wait > kTooShortToSleep) {
      std::this_thread::sleep_for(
          std::min<CallLoad::Time::duration>(wait - kTooShortToSleep, kLongestSleep));
    } else {
      std::this_thread::yield();
    }
  }
}

}  // namespace

CallLoad::CallLoad(std::vector<std::unique_ptr<Slot>> slots, Time end)
    : slots_(std::move(slots)), end_(end) {
  for (const std::unique_ptr<Slot>& slot : slots_) free_.push_back(slot.get());
}

CallLoad::~CallLoad() = default;

void CallLoad::Start() {
  closed_loop_ = true;
  std::vector<Slot*> slots;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    slots.swap(free_);
  }
  for (Slot* const slot : slots) {
    slot->begun = Now();
    slot->Begin(*this);
  }
}

void CallLoad::Pace(OpenLoopSchedule schedule) {
  while (schedule.next() < end_ && !stopped_) {
    SleepUntil(schedule.next(), stopped_);
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return !free_.empty(); });
    // What is still due after the end, because slots were missing, is not begun.
    if (Over(Now())) break;
    Slot& slot = *free_.back();
    free_.pop_back();
    lock.unlock();
    slot.begun = schedule.Take();
    slot.Begin(*this);
  }
  not_begun_ = schedule.Left(end_);
}

void CallLoad::WaitForLast() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return free_.size() == slots_.size(); });
}

void CallLoad::OnEnd(Slot& slot, CallTally& tally, int code, absl::string_view text) {
  const Time now = Now();
  tally.Record(slot.begun, now, code, text);
  if (closed_loop_ && !Over(now)) {
    slot.begun = now;
    return slot.Begin(*this);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  free_.push_back(&slot);
  // While the lock is held: the waiter may destroy the load as soon as it is free.
  changed_.notify_all();
}

}  // namespace farcall::bench
