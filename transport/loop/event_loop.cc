// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/event_loop.h"

#include <algorithm>

#include "transport/base/check.h"

namespace farcall {
namespace {

// What the rules of the loop's law are checked against: each thread's own state.
thread_local const EventLoop* held_loop = nullptr;
thread_local const EventLoop* driven_loop = nullptr;

// How often a thread asks for a held loop before it lets the kernel put it to
// sleep: the loop is held for microseconds, and waking up costs tens of them.
constexpr int kSpins = 2000;

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

absl::StatusOr<std::unique_ptr<EventLoop>> EventLoop::Create(const Clock& clock) {
  auto epoll = EpollSource::Create();
  if (!epoll.ok()) return epoll.status();
  auto wake = WakeFds::Create();
  if (!wake.ok()) return wake.status();
  std::unique_ptr<EventLoop> loop(new EventLoop(clock, *std::move(epoll), *std::move(wake)));
  for (const int fd : {loop->wake_.event_fd(), loop->wake_.timer_fd()}) {
    auto watch = loop->epoll_->Add(fd, EPOLLIN | EPOLLET, loop->waker_);
    if (!watch.ok()) return watch.status();
  }
  loop->own_watches_ = loop->epoll_->size();
  return loop;
}

EventLoop::EventLoop(const Clock& clock, std::unique_ptr<EpollSource> epoll, WakeFds wake)
    : clock_(clock), now_(clock.Now()), epoll_(std::move(epoll)), wake_(std::move(wake)) {}

EventLoop::~EventLoop() {
  Check(held_loop != this, "a loop is not destroyed while it is held");
  Check(user_.empty(), "user code of a loop is run before the loop is destroyed");
  Check(timers_.size() == 0, "what belongs to a loop is destroyed before it");
}

void EventLoop::Post(Task task) {
  mailbox_.Put(std::move(task));
  WakeIfAsleep();
}

bool EventLoop::held() const { return held_loop == this; }

void EventLoop::SetDriven(EventLoop* loop) { driven_loop = loop; }

absl::Status EventLoop::AddSource(PollSource& source) {
  auto watch = epoll_->Add(source.fd(), EPOLLIN, waker_);
  if (!watch.ok()) return watch.status();
  ++own_watches_;
  sources_.push_back({&source, *watch});
  // A sleeping driver has not armed it.
  WakeIfAsleep();
  return absl::OkStatus();
}

void EventLoop::RemoveSource(PollSource& source) {
  const auto found = std::find_if(sources_.begin(), sources_.end(),
                                  [&](const Source& entry) { return entry.source == &source; });
  Check(found != sources_.end(), "a source is removed from the loop it was added to");
  epoll_->Remove(found->watch, source.fd());
  --own_watches_;
  sources_.erase(found);
}

void EventLoop::FlushLater(Flushable& output) {
  if (output.flush_slot != Flushable::kNotQueued) return;
  output.flush_slot = flush_.size();
  flush_.push_back(&output);
}

void EventLoop::ForgetFlush(Flushable& output) {
  if (output.flush_slot == Flushable::kNotQueued) return;
  flush_[output.flush_slot] = nullptr;
  output.flush_slot = Flushable::kNotQueued;
}

void EventLoop::RunUser(UserTask& task) { user_.Push(task); }

bool EventLoop::Turn() {
  Enter();
  bool worked = mailbox_.RunAll() > 0;
  for (size_t i = 0; i < sources_.size(); ++i) worked |= sources_[i].source->Poll();
  if (epoll_->fetched() || epoll_->size() > own_watches_) worked |= epoll_->Poll();
  worked |= timers_.RunDue(now_) > 0;
  worked |= !user_.empty() || !flush_.empty();
  Release();
  return worked;
}

UserTask* EventLoop::TakeUser() {
  Lock();
  UserTask* const task = user_.Pop();
  Release();
  return task;
}

void EventLoop::FlushAll() {
  Lock();
  FlushHeld();
  Release();
}

bool EventLoop::RunOnce() {
  if (!Turn()) return false;
  SetDriven(this);
  while (UserTask* const task = TakeUser()) task->Run();
  SetDriven(nullptr);
  FlushAll();
  return true;
}

std::optional<TimePoint> EventLoop::NextTimer() {
  Lock();
  const std::optional<TimePoint> next = timers_.next();
  Release();
  return next;
}

bool EventLoop::PrepareSleep() {
  Enter();
  bool sleep = user_.empty() && flush_.empty() && (!timers_.next() || *timers_.next() > now_) &&
               ArmSources();
  if (sleep) {
    asleep_.store(true, std::memory_order_seq_cst);
    // Who posts puts first and looks at asleep_ second; this looks the other way round.
    if (!mailbox_.empty()) {
      asleep_.store(false, std::memory_order_relaxed);
      for (const Source& entry : sources_) entry.source->Disarm();
      sleep = false;
    } else {
      wake_.ArmTimer(timers_.next());
    }
  }
  Release();
  return sleep;
}

void EventLoop::Awake() {
  asleep_.store(false, std::memory_order_relaxed);
  Enter();
  wake_.OnAwake(now_);
  for (const Source& entry : sources_) entry.source->Disarm();
  Release();
}

bool EventLoop::ArmSources() {
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (sources_[i].source->Arm()) continue;
    while (i > 0) sources_[--i].source->Disarm();
    return false;
  }
  return true;
}

void EventLoop::Lock() {
  Check(held_loop == nullptr, "a thread holds one loop at most");
  for (int i = 0; i < kSpins; ++i) {
    if (mutex_.try_lock()) {
      held_loop = this;
      return;
    }
    Pause();
  }
  mutex_.lock();
  held_loop = this;
}

void EventLoop::Enter() {
  Lock();
  now_ = clock_.Now();
}

void EventLoop::Release() {
  held_loop = nullptr;
  mutex_.unlock();
}

bool EventLoop::TryEnter() {
  Check(held_loop == nullptr, "a thread holds one loop at most");
  // What waits in the mailbox came first.
  if (!mailbox_.empty() || !mutex_.try_lock()) return false;
  held_loop = this;
  now_ = clock_.Now();
  return true;
}

void EventLoop::Leave() {
  if (driven_loop != this) {
    FlushHeld();
    if (asleep_.load(std::memory_order_relaxed)) {
      if (!user_.empty()) WakeIfAsleep();
      wake_.ArmTimer(timers_.next());
    }
  }
  Release();
}

void EventLoop::FlushHeld() {
  // By index: a flush may queue others behind it.
  for (size_t i = 0; i < flush_.size(); ++i) {
    if (flush_[i] == nullptr) continue;
    Flushable& output = *std::exchange(flush_[i], nullptr);
    output.flush_slot = Flushable::kNotQueued;
    output.Flush();
  }
  flush_.clear();
}

void EventLoop::WakeIfAsleep() {
  if (asleep_.load(std::memory_order_seq_cst) && asleep_.exchange(false)) wake_.Wake();
}

}  // namespace farcall
