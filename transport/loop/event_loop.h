// SPDX-License-Identifier: Apache-2.0
//
// EventLoop: connections, their sessions, timers and queue pairs belong to one
// loop for life. The loop's law:
//
//   1. What belongs to a loop is touched only while the loop is held. One thread
//      holds it at a time, and a thread holds at most one loop.
//   2. User code (service handlers, completion closures) never runs while a
//      loop is held. It is queued by RunUser, and whoever drives the loop runs it
//      with the loop released and no reference into it on the stack.
//   3. Who comes from outside uses RunOrPost: at once, if the loop is free, else
//      through the mailbox.
//
// So any thread may work for a loop that its driver leaves idle, user code may
// call anything, and another thread can take over the drive while user code runs.

#ifndef FARCALL_TRANSPORT_LOOP_EVENT_LOOP_H_
#define FARCALL_TRANSPORT_LOOP_EVENT_LOOP_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/base/time.h"
#include "transport/loop/epoll_source.h"
#include "transport/loop/mailbox.h"
#include "transport/loop/poll_source.h"
#include "transport/loop/timer_queue.h"
#include "transport/loop/user_queue.h"
#include "transport/loop/wake_fds.h"

namespace farcall {

// Something with output to push out once, at the end of the turn.
class Flushable {
 public:
  virtual void Flush() = 0;  // with the loop held

  // The loop's: the place in its list, or kNotQueued.
  static constexpr size_t kNotQueued = ~size_t{0};
  size_t flush_slot = kNotQueued;

 protected:
  ~Flushable() = default;
};

class EventLoop {
 public:
  using Task = Mailbox::Task;

  // `clock` outlives the loop. Fails when the process is out of file descriptors.
  static absl::StatusOr<std::unique_ptr<EventLoop>> Create(const Clock& clock);
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;
  ~EventLoop();

  // --- Any thread.

  // Runs `task` with the loop held, in the order of posting for each thread.
  void Post(Task task);
  // Runs `work` now, with the loop held, if nobody holds it and nothing waits in the
  // mailbox; else posts it. The order is that of Post. Not while any loop is held.
  template <typename Work>
  void RunOrPost(Work&& work) {
    if (TryEnter()) {
      std::forward<Work>(work)();
      Leave();
    } else {
      Post(std::forward<Work>(work));
    }
  }
  const Clock& clock() const { return clock_; }
  // Whether this thread holds the loop.
  bool held() const;

  // --- With the loop held.

  // Read when the loop was entered.
  TimePoint now() const { return now_; }
  void SetTimer(Timer& timer, TimePoint when) { timers_.Set(timer, when); }
  void CancelTimer(Timer& timer) { timers_.Cancel(timer); }
  EpollSource& fds() { return *epoll_; }
  // `source` outlives its place here.
  absl::Status AddSource(PollSource& source);
  void RemoveSource(PollSource& source);
  // Flush() is called once before the loop's turn ends. ForgetFlush takes that back.
  void FlushLater(Flushable& output);
  void ForgetFlush(Flushable& output);
  // Queues user code. `task` owns itself: Run ends its life or hands it on.
  void RunUser(UserTask& task);

  // --- Whoever drives the loop: one thread at a time, the loop not held.

  // One pass over mailbox, sources and timers. False: there was nothing to do, and there
  // is no user code and no output waiting either.
  bool Turn();
  // The next piece of user code, to be Run by the caller with nothing held; or null.
  UserTask* TakeUser();
  void FlushAll();
  // A whole turn with its user code and flush; for stepping by hand. True: there was work.
  bool RunOnce();
  // When the next timer is due.
  std::optional<TimePoint> NextTimer();

  // Agrees to sleep: false if there is work. After true: Sleep, then Awake.
  bool PrepareSleep();
  void Sleep() { epoll_->Wait(); }
  void Awake();

  // Declares that this thread runs user code of this loop (null: of none), so that what
  // it writes is flushed at the end of the turn and not call by call.
  static void SetDriven(EventLoop* loop);

 private:
  // Another source's descriptor, which only ends a sleep.
  struct Waker final : FdHandler {
    void OnReady(uint32_t) override {}
  };
  struct Source {
    PollSource* source;
    EpollSource::Watch watch;
  };

  EventLoop(const Clock& clock, std::unique_ptr<EpollSource> epoll, WakeFds wake);
  void Lock();   // holds the loop
  void Enter();  // and reads the clock
  void Release();
  bool TryEnter();
  void Leave();  // what TryEnter began
  void FlushHeld();
  bool ArmSources();
  void WakeIfAsleep();

  const Clock& clock_;
  std::mutex mutex_;  // "the loop is held"
  Mailbox mailbox_;
  // Set by the driver before it sleeps; who clears it writes to the wake descriptor.
  std::atomic<bool> asleep_{false};

  // Guarded by mutex_.
  TimePoint now_{};
  std::unique_ptr<EpollSource> epoll_;
  size_t own_watches_ = 0;  // those that only end a sleep
  WakeFds wake_;
  Waker waker_;
  TimerQueue timers_;
  std::vector<Source> sources_;
  std::vector<Flushable*> flush_;
  UserQueue user_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_EVENT_LOOP_H_
