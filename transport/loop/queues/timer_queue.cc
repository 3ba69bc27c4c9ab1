// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/queues/timer_queue.h"

#include <utility>

#include "transport/base/check.h"

namespace farcall {
namespace {

// Positions from here on are in due_, not in the heap.
constexpr size_t kDue = size_t{1} << 48;

}  // namespace

Timer::Timer(absl::AnyInvocable<void()> on_time) : fire(std::move(on_time)) {}

Timer::~Timer() { Check(!pending(), "a timer is cancelled before it dies"); }

void TimerQueue::Set(Timer& timer, TimePoint when) {
  Cancel(timer);
  timer.when = when;
  heap_.push_back({when, &timer});
  timer.position = heap_.size() - 1;
  SiftUp(timer.position);
}

void TimerQueue::Cancel(Timer& timer) {
  if (!timer.pending()) return;
  if (timer.position >= kDue) {
    due_[timer.position - kDue] = nullptr;
  } else {
    RemoveAt(timer.position);
  }
  timer.position = Timer::kNotQueued;
}

size_t TimerQueue::RunDue(TimePoint now) {
  Check(due_.empty(), "RunDue is not called from a timer");
  while (!heap_.empty() && heap_.front().when <= now) {
    Timer& timer = *heap_.front().timer;
    RemoveAt(0);
    timer.position = kDue + due_.size();
    due_.push_back(&timer);
  }
  size_t fired = 0;
  for (size_t i = 0; i < due_.size(); ++i) {
    Timer* const timer = due_[i];
    if (timer == nullptr) continue;  // cancelled by an earlier one
    timer->position = Timer::kNotQueued;
    timer->fire();
    ++fired;
  }
  due_.clear();
  return fired;
}

Timer* TimerQueue::TakeDue(TimePoint now) {
  if (heap_.empty() || heap_.front().when > now) return nullptr;
  Timer& timer = *heap_.front().timer;
  Cancel(timer);
  return &timer;
}

std::optional<TimePoint> TimerQueue::next() const {
  if (heap_.empty()) return std::nullopt;
  return heap_.front().when;
}

void TimerQueue::Place(Entry entry, size_t position) {
  heap_[position] = entry;
  entry.timer->position = position;
}

void TimerQueue::SiftUp(size_t position) {
  const Entry entry = heap_[position];
  while (position > 0) {
    const size_t parent = (position - 1) / 2;
    if (heap_[parent].when <= entry.when) break;
    Place(heap_[parent], position);
    position = parent;
  }
  Place(entry, position);
}

void TimerQueue::SiftDown(size_t position) {
  const Entry entry = heap_[position];
  for (;;) {
    size_t child = 2 * position + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && heap_[child + 1].when < heap_[child].when) ++child;
    if (entry.when <= heap_[child].when) break;
    Place(heap_[child], position);
    position = child;
  }
  Place(entry, position);
}

void TimerQueue::RemoveAt(size_t position) {
  const Entry last = heap_.back();
  heap_.pop_back();
  if (position == heap_.size()) return;
  Place(last, position);
  SiftUp(position);
  SiftDown(last.timer->position);
}

}  // namespace farcall
