// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/event_loop.h"

#include "transport/base/check.h"
#include "transport/base/clock.h"
#include "transport/loop/drive/spin.h"

namespace farcall {
namespace {

// How long a thread asks for a held loop before it lets the kernel put it to
// sleep: the loop is held for microseconds, and waking up costs tens of them.
constexpr Duration kSpinTime = std::chrono::microseconds(20);

}  // namespace

absl::StatusOr<std::unique_ptr<EventLoop>> EventLoop::Create(const Clock& clock) {
  auto epoll = EpollSource::Create();
  if (!epoll.ok()) return epoll.status();
  auto wake = WakeFds::Create();
  if (!wake.ok()) return wake.status();
  std::unique_ptr<EventLoop> loop(new EventLoop(clock, *std::move(epoll), *std::move(wake)));
  EpollSource& fds = *loop->epoll_;
  auto event = fds.Add(loop->wake_.event_fd(), EPOLLIN | EPOLLET, loop->waker_, /*crowds=*/false);
  if (!event.ok()) return event.status();
  auto timer =
      fds.Add(loop->wake_.timer_fd(), EPOLLIN | EPOLLET, loop->timer_waker_, /*crowds=*/false);
  if (!timer.ok()) return timer.status();
  return loop;
}

EventLoop::EventLoop(const Clock& clock, std::unique_ptr<EpollSource> epoll, WakeFds wake)
    : clock_(clock), now_(clock.Now()), epoll_(std::move(epoll)), wake_(std::move(wake)) {}

EventLoop::~EventLoop() {
  Check(held_loop_ == nullptr, "a loop is not destroyed while one is held");
  Lock();
  mailbox_.Clear();
  Release();
  Check(user_.empty(), "user code of a loop is run before the loop is destroyed");
  Check(timers_.size() == 0 && sources_.size() == 0,
        "what belongs to a loop is destroyed before it");
}

void EventLoop::Post(Task task) {
  CheckHere();
  mailbox_.Put(std::move(task));
  WakeDriver();
}

void EventLoop::SetTimer(Timer& timer, TimePoint when) {
  CheckHeld();
  timers_.Set(timer, when);
}

void EventLoop::CancelTimer(Timer& timer) {
  if (!timer.pending()) return;
  CheckHeld();
  timers_.Cancel(timer);
}

EpollSource& EventLoop::fds() {
  CheckHeld();
  return *epoll_;
}

absl::Status EventLoop::AddSource(PollSource& source) {
  CheckHeld();
  absl::Status status = sources_.Add(source);
  // A sleeping driver has not armed it.
  if (status.ok()) WakeDriver();
  return status;
}

void EventLoop::RemoveSource(PollSource& source) {
  CheckHeld();
  sources_.Remove(source);
}

void EventLoop::ForgetFlush(Flushable& output) {
  if (output.flush_slot == Flushable::kNotQueued) return;
  CheckHeld();
  FlushListOf(output).Remove(output);
}

void EventLoop::NeedThread(int change) {
  CheckHeld();
  const int needs = thread_needs_.load(std::memory_order_relaxed) + change;
  Check(needs >= 0, "who needs a loop's thread no more has needed it");
  thread_needs_.store(needs, std::memory_order_relaxed);
}

void EventLoop::EndSleep() {
  CheckHeld();
  if (driver_.load(std::memory_order_relaxed) == Driver::kAsleep) WakeDriver();
}

bool EventLoop::PrepareSleep() {
  Enter();
  bool sleep = user_.empty() && !FlushDue() && !epoll_->fetched() &&
               (!timers_.next() || *timers_.next() > now_) && sources_.ArmAll();
  if (sleep) {
    driver_.store(Driver::kAsleep, std::memory_order_seq_cst);
    // Who posts puts first and looks at driver_ second; this looks the other way round.
    if (!mailbox_.empty()) {
      driver_.store(Driver::kAwake, std::memory_order_relaxed);
      sources_.DisarmAll();
      sleep = false;
    } else {
      wake_.ArmTimer(timers_.next(), now_);
      ++counts_.sleeps;
    }
  }
  Release();
  return sleep;
}

void EventLoop::Awake() {
  Attend();
  Enter();
  sources_.DisarmAll();
  Release();
}

bool EventLoop::LeaveAlone() {
  Lock();
  bool alone = user_.empty() && !FlushDue() && !epoll_->fetched() && !thread_needed();
  if (alone) {
    driver_.store(Driver::kNone, std::memory_order_seq_cst);
    // As before a sleep.
    alone = mailbox_.empty();
    if (!alone) Attend();
  }
  Release();
  return alone;
}

void EventLoop::AwaitLock() {
  // The loop's own clock may stand still.
  if (!SpinFor(SteadyClock(), kSpinTime, [this] { return lock_.try_lock(); })) lock_.lock();
}

void EventLoop::Enter() {
  Lock();
  now_ = clock_.Now();
}

bool EventLoop::TryHold() {
  CheckMayHold();
  // What waits in the mailbox came first.
  if (!mailbox_.empty() || !lock_.try_lock()) return false;
  held_loop_ = this;
  caller_waits_ = false;
  return true;
}

bool EventLoop::TryEnter() {
  if (!TryHold()) return false;
  now_ = clock_.Now();
  return true;
}

void EventLoop::Leave() {
  const bool left = caller_waits_ && drive_.VisitorFlushes() &&
                    driver_.load(std::memory_order_relaxed) == Driver::kAwake;
  if (!left && !claim_.DefersOutput(ThisThread())) {
    FlushNow();
    const Driver driver = driver_.load(std::memory_order_relaxed);
    if (driver != Driver::kAwake) {
      const bool needed = driver == Driver::kNone && thread_needed();
      if (needed || !user_.empty() || FlushDue()) WakeDriver();
    }
    if (driver == Driver::kAsleep) wake_.ArmTimer(timers_.next(), now_);
  }
  Release();
}

void EventLoop::WakeDriver() {
  if (driver_.load(std::memory_order_seq_cst) == Driver::kAwake) return;
  switch (driver_.exchange(Driver::kAwake)) {
    case Driver::kAwake:
      return;
    case Driver::kAsleep:
      return wake_.Wake();
    case Driver::kNone:
      return drive_.WantThread();
  }
}

}  // namespace farcall
