// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_QUEUES_TIMER_QUEUE_H_
#define FARCALL_TRANSPORT_LOOP_QUEUES_TIMER_QUEUE_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "transport/base/time.h"

namespace farcall {

class TimerQueue;

// Something to be done once, at a time. Lives in whatever it serves, so that
// setting it allocates nothing (given a small closure).
class Timer {
 public:
  explicit Timer(absl::AnyInvocable<void()> on_time);
  // For TimerQueue::TakeDue only.
  Timer() = default;
  // Must not be pending: its queue belongs to a loop that may not be held now.
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  bool pending() const { return position != kNotQueued; }

  // The rest is the queue's.
  static constexpr size_t kNotQueued = ~size_t{0};
  absl::AnyInvocable<void()> fire;
  TimePoint when{};
  size_t position = kNotQueued;
};

// Timers by time: a binary heap. Pure; one thread at a time.
// Add is O(1) for times that come in order, as deadlines do; Cancel is O(log n).
class TimerQueue {
 public:
  TimerQueue() = default;
  TimerQueue(const TimerQueue&) = delete;
  TimerQueue& operator=(const TimerQueue&) = delete;

  // Moves the timer if it is pending. It must be cancelled or have fired before it dies.
  void Set(Timer& timer, TimePoint when);
  void Cancel(Timer& timer);  // nothing if it is not pending

  // Fires what is due at `now`, earliest first, and returns how many. A timer set by one
  // of them waits for the next call, so that this ends. Firing may set and
  // cancel any timer, but not destroy the one that fires.
  size_t RunDue(TimePoint now);

  // The earliest that is due at `now`, which is not pending any more and is not fired. Null: none
  // is. Costs a timer no closure; not from RunDue.
  Timer* TakeDue(TimePoint now);

  std::optional<TimePoint> next() const;
  size_t size() const { return heap_.size(); }

 private:
  // With the time, so that none is compared whose timer has long left the caches.
  struct Entry {
    TimePoint when;
    Timer* timer;
  };

  void Place(Entry entry, size_t position);
  void SiftUp(size_t position);
  void SiftDown(size_t position);
  void RemoveAt(size_t position);

  std::vector<Entry> heap_;
  std::vector<Timer*> due_;  // those of the RunDue that runs; position says where
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_QUEUES_TIMER_QUEUE_H_
