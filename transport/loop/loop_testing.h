// SPDX-License-Identifier: Apache-2.0
//
// For tests of and on loops.

#ifndef FARCALL_TRANSPORT_LOOP_LOOP_TESTING_H_
#define FARCALL_TRANSPORT_LOOP_LOOP_TESTING_H_

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "transport/base/unique_fd.h"
#include "transport/loop/drive/blocking.h"
#include "transport/loop/event_loop.h"

namespace farcall {

// How long a test waits for what must happen. It decides nothing but how soon a
// broken build is red.
constexpr std::chrono::seconds kTestTimeout{10};

// Something that happens in one thread and is waited for in another. Counts.
class TestEvent {
 public:
  // The lock is kept over notify, so that the event may die once Wait has returned.
  void Signal() {
    std::lock_guard<std::mutex> lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  // False: it did not happen `times` times within kTestTimeout.
  [[nodiscard]] bool Wait(int times = 1) {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, kTestTimeout, [&] { return count_ >= times; });
  }
  int count() {
    std::lock_guard<std::mutex> lock(mutex_);
    return count_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

// A closure as a piece of user code.
class UserClosure final : public UserTask {
 public:
  // With `loop` held.
  static void Queue(EventLoop& loop, absl::AnyInvocable<void()> run, WatchedCode* code = nullptr) {
    auto* const closure = new UserClosure(std::move(run));
    closure->watched = code;
    loop.RunUser(*closure);
  }
  void Run() override {
    run_();
    if (watched != nullptr) EndWatch();
    delete this;
  }
  // It owns itself.
  explicit UserClosure(absl::AnyInvocable<void()> run) : run_(std::move(run)) {}

 private:
  absl::AnyInvocable<void()> run_;
};

// Queues user code from any thread that holds no loop.
inline void RunUserCode(EventLoop& loop, absl::AnyInvocable<void()> run,
                        WatchedCode* watched = nullptr) {
  loop.RunOrPost([&loop, run = std::move(run), watched]() mutable {
    UserClosure::Queue(loop, std::move(run), watched);
  });
}

// Has something to do in each turn, for two watches: the loop is crowded. Made and destroyed with
// the loop held.
class Crowd final : public FdHandler {
 public:
  explicit Crowd(EventLoop& loop) : loop_(loop) {
    for (One& one : both_) one.watch = *loop_.fds().Add(one.fd.get(), EPOLLIN, *this);
    loop_.fds().Poll();
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;
  ~Crowd() {
    for (One& one : both_) loop_.fds().Remove(one.watch, one.fd.get());
  }

 private:
  struct One {
    UniqueFd fd{::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK)};
    EpollSource::Watch watch;
  };
  void OnReady(uint32_t) override {}

  EventLoop& loop_;
  One both_[2];
};

// Ends a sleep that nothing else ends, so that the test fails instead of hanging.
class SleepGuard final : public FdHandler {
 public:
  explicit SleepGuard(EventLoop& loop) : loop_(loop) {
    Restart();
    loop_.RunOrPost([this] { watch_ = *loop_.fds().Add(fd_.get(), EPOLLIN, *this); });
  }
  ~SleepGuard() {
    EXPECT_TRUE(loop_.TryRun([this] { loop_.fds().Remove(watch_, fd_.get()); }));
  }
  // Its patience begins anew.
  void Restart() {
    itimerspec spec{};
    spec.it_value.tv_sec = kTestTimeout.count();
    EXPECT_EQ(::timerfd_settime(fd_.get(), 0, &spec, nullptr), 0);
  }
  void OnReady(uint32_t) override { FAIL() << "the loop was not woken"; }

 private:
  EventLoop& loop_;
  UniqueFd fd_{::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)};
  EpollSource::Watch watch_;
};

// Output that only counts.
class CountingOutput final : public Flushable {
 public:
  explicit CountingOutput(absl::AnyInvocable<void()> on_flush = nullptr)
      : on_flush_(std::move(on_flush)) {}
  void Flush() override {
    ++flushes;
    if (on_flush_) on_flush_();
  }

  int flushes = 0;

 private:
  absl::AnyInvocable<void()> on_flush_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_LOOP_TESTING_H_
