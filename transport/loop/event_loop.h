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
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/base/check.h"
#include "transport/base/host/process_mark.h"
#include "transport/base/threads/quick_lock.h"
#include "transport/base/time.h"
#include "transport/loop/drive/driver_claim.h"
#include "transport/loop/loop_drive.h"
#include "transport/loop/queues/flush_list.h"
#include "transport/loop/queues/mailbox.h"
#include "transport/loop/queues/timer_queue.h"
#include "transport/loop/queues/user_queue.h"
#include "transport/loop/sources/epoll_source.h"
#include "transport/loop/sources/source_list.h"
#include "transport/loop/sources/wake_fds.h"

namespace farcall {

class EventLoop {
 public:
  using Task = Mailbox::Task;

  // `clock` outlives the loop; if the loop is to sleep, it is CLOCK_MONOTONIC. Fails when the
  // process is out of file descriptors.
  static absl::StatusOr<std::unique_ptr<EventLoop>> Create(const Clock& clock);
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;
  // After every other call. What was posted and not run is destroyed, with the loop held.
  ~EventLoop();

  // --- Any thread.

  // Runs `task` with the loop held, in the order of posting for each thread.
  void Post(Task task);
  // Runs `work` now, with the loop held, if no thread holds it and nothing waits in the
  // mailbox. False: not run. What it queued for the turn's end is flushed before this
  // returns, unless CallerWaits was called, or this thread runs user code of this loop as its
  // driver: then the turn has its end still before it. Not while any loop is held.
  template <typename Work>
  bool TryRun(Work&& work) {
    if (!TryEnter()) return false;
    std::forward<Work>(work)();
    Leave();
    return true;
  }
  // The same by who has just read clock(): `now`, or later where the loop was entered since.
  template <typename Work>
  bool TryRunAt(TimePoint now, Work&& work) {
    if (!TryHold()) return false;
    if (now > now_) now_ = now;
    std::forward<Work>(work)();
    Leave();
    return true;
  }
  // TryRun, else Post. The order is that of Post. Not while any loop is held.
  template <typename Work>
  void RunOrPost(Work&& work) {
    if (!TryRun(work)) Post(std::forward<Work>(work));
  }
  const Clock& clock() const { return clock_; }
  // Whether this thread holds the loop.
  bool held() const { return held_loop_ == this; }
  // Where it is not here(), in a child of fork(2), everything else here ends the process: what
  // belongs to the loop is the parent's, descriptors too.
  const ProcessMark& process() const { return process_; }
  // Whose turn it is to drive it.
  LoopDrive& drive() { return drive_; }
  // The NUMA node whose memory its connections use; -1: it does not matter, since all loops of the
  // process are on one, or it is not known. Set once, if at all: what was made before stays as it
  // is.
  int memory_node() const { return memory_node_.load(std::memory_order_relaxed); }
  void SetMemoryNode(int node) { memory_node_.store(node, std::memory_order_relaxed); }
  // Whether a call waits that does not drive the loop itself, see NeedThread.
  bool thread_needed() const { return thread_needs_.load(std::memory_order_relaxed) > 0; }

  // --- With the loop held; checked. What is not pending may be taken back at any time.

  // Read when the loop was entered.
  TimePoint now() const { return now_; }
  // Since it was made.
  struct Counts {
    uint64_t turns = 0;   // that found work
    uint64_t sleeps = 0;  // of its driver
  };
  const Counts& counts() const { return counts_; }
  // No timer fires before the turn has looked at all that came before its now(): one that accuses
  // a peer of silence would else be wrong where the loop, or the whole process, stood still.
  void SetTimer(Timer& timer, TimePoint when);
  // One that is set for an earlier time stays so.
  void SetTimerBy(Timer& timer, TimePoint when) {
    if (!timer.pending() || when < timer.when) SetTimer(timer, when);
  }
  void CancelTimer(Timer& timer);
  EpollSource& fds();
  // `source` outlives its place here.
  absl::Status AddSource(PollSource& source);
  void RemoveSource(PollSource& source);
  // Flush() is called once before the loop's turn ends, see FlushList. ForgetFlush takes
  // that back.
  void FlushLater(Flushable& output) {
    CheckHeld();
    FlushListOf(output).Add(output);
  }
  void ForgetFlush(Flushable& output);
  // Queues user code. `task` owns itself: Run ends its life or hands it on.
  void RunUser(UserTask& task) {
    CheckHeld();
    user_.Push(task);
  }
  // +1: something waits for the loop and does not drive it itself, such as a call with a closure
  // or a server's connection. From now on only the loop's own thread drives it.
  // -1: he waits no more.
  void NeedThread(int change);
  // Ends the sleep of who drives, if he sleeps.
  void EndSleep();
  // Of the work of TryRun and its like: this thread waits on this loop next (LoopVisitor::Wait). If
  // many do, and one of them drives the loop and is awake, that one flushes what this queues, with
  // what others queue: callers that follow each other on a processor share one system call.
  void CallerWaits() {
    CheckHeld();
    caller_waits_ = true;
  }

  // --- Whoever drives the loop: one thread at a time, the loop not held.

  // One pass over mailbox, sources and timers. False: there was nothing to do, and there
  // is no user code and no output waiting either.
  bool Turn();
  // The next piece of user code, to be Run by the caller with nothing held; or null: none is left,
  // or the drive was taken from this thread while the last ran, which EndTurn tells. `piece`: 0
  // after Turn. What came after the last Turn waits for the next, so that user code that begets
  // user code starves nothing.
  UserTask* TakeUser(DriverClaim::Piece& piece);
  // Flushes. False: nothing was done, as another thread drives now, and this one no more.
  bool EndTurn(DriverClaim::Piece piece);
  void FlushAll() { FlushAndFindUser(); }
  // True: user code waits.
  bool FlushAndFindUser();
  // A whole turn with its user code and flush; for stepping by hand. True: there was work.
  bool RunOnce();
  // When the next timer is due.
  std::optional<TimePoint> NextTimer();

  // Agrees to sleep: false if there is work. After true: Sleep, then Awake.
  bool PrepareSleep();
  void Sleep() { epoll_->Wait(); }
  void Awake();
  // Agrees to have no driver for a while: false if there is work that is known of. After true
  // whoever brings work calls drive().WantThread, until Attend, by who drives then.
  bool LeaveAlone();
  void Attend() { driver_.store(Driver::kAwake, std::memory_order_relaxed); }

  // --- Whoever shall drive it next; any thread that holds no loop.

  // Takes the drive from the thread that runs `piece`. Who drives from now on flushes what that has
  // written so far; what it writes later is flushed at once. False: it runs that no more.
  bool TakeDrive(DriverClaim::Piece piece);
  // Whether no user code began or ended since claim_state() was `state`. For who then sleeps: what
  // begins later sees all that this thread wrote before.
  bool StillIn(DriverClaim::Piece state);
  DriverClaim::Piece claim_state() const { return claim_state_.load(std::memory_order_relaxed); }

 private:
  // The descriptors of wake_, whose only use is to end a sleep.
  static constexpr size_t kOwnWatches = 2;
  // A look at the descriptors is a system call, which a completion queue does without: where
  // that has brought work within so many turns, descriptors are looked at in each
  // kLookEvery-th turn, and where a timer is due. A sleep sees them at once.
  static constexpr int kSourceIdle = 256;
  static constexpr int kLookEvery = 8;
  // Where so much user code waits, what more descriptors bring would only wait behind it, and leave
  // the caches meanwhile: they too are looked at in each kLookEvery-th turn only.
  static constexpr size_t kMuchUser = 64;
  // A timer that is so late tells that the loop stood still. Then the sources are polled until they
  // have no more work, as more may wait than one Poll takes; or so often.
  static constexpr Duration kStoodStill = std::chrono::milliseconds(100);
  static constexpr int kMaxPolls = 1024;
  struct Waker final : FdHandler {
    void OnReady(uint32_t) override {}
  };
  struct TimerWaker final : FdHandler {
    explicit TimerWaker(WakeFds& fds) : wake(fds) {}
    void OnReady(uint32_t) override { wake.OnTimer(); }
    WakeFds& wake;
  };

  EventLoop(const Clock& clock, std::unique_ptr<EpollSource> epoll, WakeFds wake);
  void Lock() {  // holds the loop
    CheckMayHold();
    if (!lock_.try_lock()) [[unlikely]]
      AwaitLock();
    held_loop_ = this;
  }
  void AwaitLock();
  void Enter();  // and reads the clock
  void Release() {
    const uint32_t asleep = drive_.EndHold();
    held_loop_ = nullptr;
    lock_.unlock();
    if (asleep != 0) drive_.Wake(asleep);
  }
  bool TryHold();
  bool TryEnter();  // and reads the clock
  void Leave();     // what TryEnter began
  static DriverClaim::Thread ThisThread() { return &held_loop_; }
  FlushList& FlushListOf(Flushable& output) { return output.flushes_first ? gather_ : flush_; }
  bool FlushDue() const { return !flush_.empty() || !gather_.empty(); }
  // `more`: much user code follows at once. Then who gathered last gets the rest of what it sends
  // before that leaves, so that the calls of one connection take one system call.
  void FlushNow(bool more = false) {
    gather_.FlushAll(more);
    flush_.FlushAll();
  }
  void FlushHeld(bool more = false);
  void PublishClaim() { claim_state_.store(claim_.state(), std::memory_order_relaxed); }
  void CheckHeld() const {
    Check(held(), "what belongs to a loop is touched only while the loop is held");
  }
  // Before anything is locked: a thread that is not here may have held it.
  void CheckHere() const {
    Check(process_.here(),
          "a child of fork(2) leaves alone what is its parent's (docs/processes.md)");
  }
  void CheckMayHold() const {
    CheckHere();
    Check(held_loop_ == nullptr, "a thread holds one loop at most");
  }
  bool MuchUser() const { return user_.size() >= kMuchUser; }
  bool Look(bool source_worked);
  bool LookDue(bool source_worked);
  void WakeDriver();

  enum class Driver : uint8_t { kAwake, kAsleep, kNone };

  // What the rules of the loop's law are checked against: each thread's own state. Its address is
  // the thread's name.
  static inline thread_local constinit const EventLoop* held_loop_ = nullptr;

  const Clock& clock_;
  const ProcessMark process_;
  QuickLock lock_;  // "the loop is held"
  Mailbox mailbox_;
  // Set by the driver before it sleeps or leaves the loop alone; who brings work sets it back, and
  // then writes to the wake descriptor or wants the thread.
  std::atomic<Driver> driver_{Driver::kAwake};
  std::atomic<int> thread_needs_{0};  // written with the loop held
  std::atomic<int> memory_node_{-1};
  LoopDrive drive_;

  // Guarded by lock_.
  TimePoint now_{};
  std::unique_ptr<EpollSource> epoll_;
  WakeFds wake_;
  Waker waker_;
  TimerWaker timer_waker_{wake_};
  TimerQueue timers_;
  SourceList sources_{*epoll_};
  int turns_since_source_ = kSourceIdle;
  int turns_since_look_ = 0;
  FlushList gather_;  // those that are flushed first
  FlushList flush_;
  UserQueue user_;
  size_t user_due_ = 0;        // how much of user_ belongs to this turn
  bool caller_waits_ = false;  // of what TryHold began
  DriverClaim claim_;
  std::atomic<DriverClaim::Piece> claim_state_{0};  // claim_.state(), for all to read
  Counts counts_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_EVENT_LOOP_H_
