// SPDX-License-Identifier: Apache-2.0
//
// Going to sleep and being woken, by one thread: what another thread would do between
// PrepareSleep and Sleep is done there, so that every order is a fixed one.

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <functional>
#include <memory>
#include <utility>

#include "transport/base/clock.h"
#include "transport/loop/event_loop.h"
#include "transport/loop/loop_testing.h"

namespace farcall {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;

// A completion queue's stand-in that keeps account.
class FakeSource final : public PollSource {
 public:
  bool Poll() override {
    ++polls;
    if (on_poll) on_poll();
    return std::exchange(work, 0) > 0;
  }
  bool Arm() override {
    EXPECT_FALSE(armed);
    armed = !refuse;
    return armed;
  }
  void Disarm() override {
    EXPECT_TRUE(armed) << "Disarm without Arm";
    armed = false;
    uint64_t count = 0;
    while (::read(fd_.get(), &count, sizeof(count)) > 0) {
    }
  }
  int fd() const override { return fd_.get(); }
  // The device has something.
  void Complete() {
    ++work;
    const uint64_t one = 1;
    if (armed) {
      EXPECT_EQ(::write(fd_.get(), &one, sizeof(one)), static_cast<ssize_t>(sizeof(one)));
    }
  }

  int work = 0;
  int polls = 0;
  bool armed = false;
  bool refuse = false;
  std::function<void()> on_poll;

 private:
  UniqueFd fd_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

// Ends a sleep that nothing else ends, so that the test fails instead of hanging.
class Guard final : public FdHandler {
 public:
  explicit Guard(EventLoop& loop) : loop_(loop) {
    itimerspec spec{};
    spec.it_value.tv_sec = kTestPatience.count();
    EXPECT_EQ(::timerfd_settime(fd_.get(), 0, &spec, nullptr), 0);
    loop_.RunOrPost([this] { watch_ = *loop_.fds().Add(fd_.get(), EPOLLIN, *this); });
  }
  ~Guard() {
    EXPECT_TRUE(loop_.TryRun([this] { loop_.fds().Remove(watch_, fd_.get()); }));
  }
  void OnReady(uint32_t) override { FAIL() << "nobody woke the loop"; }

 private:
  EventLoop& loop_;
  UniqueFd fd_{::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)};
  EpollSource::Watch watch_;
};

// Reads a little less than the time, as a core's clock might.
class LaggingClock final : public Clock {
 public:
  TimePoint Now() const override { return std::chrono::steady_clock::now() - microseconds(300); }
};

class EventLoopSleepTest : public testing::Test {
 protected:
  ~EventLoopSleepTest() override {
    while (!HasFatalFailure() && loop_->RunOnce()) {
    }
  }
  void Add(FakeSource& source) {
    ASSERT_TRUE(loop_->TryRun([&] { ASSERT_TRUE(loop_->AddSource(source).ok()); }));
  }
  void Remove(FakeSource& source) {
    ASSERT_TRUE(loop_->TryRun([&] { loop_->RemoveSource(source); }));
  }
  void Sleep() {
    loop_->Sleep();
    loop_->Awake();
  }
  // As a driver does, until `done`.
  template <typename Done>
  void Drive(Done done) {
    while (!done() && !HasFailure()) {
      if (!loop_->RunOnce() && loop_->PrepareSleep()) Sleep();
    }
  }

  SteadyClock clock_;
  std::unique_ptr<EventLoop> loop_ = *EventLoop::Create(clock_);
  Guard guard_{*loop_};
};

TEST_F(EventLoopSleepTest, APostEndsTheSleep) {
  int ran = 0;
  for (int i = 1; i <= 100; ++i) {
    ASSERT_TRUE(loop_->PrepareSleep());
    loop_->Post([&] { ++ran; });
    Sleep();
    EXPECT_TRUE(loop_->RunOnce());
    ASSERT_EQ(ran, i);
  }
}

TEST_F(EventLoopSleepTest, APostBeforeTheSleepRefusesIt) {
  FakeSource source;
  Add(source);
  loop_->Post([] {});
  EXPECT_FALSE(loop_->PrepareSleep());
  EXPECT_FALSE(source.armed);
  EXPECT_TRUE(loop_->RunOnce());
  Remove(source);
}

TEST_F(EventLoopSleepTest, UserCodeQueuedFromOutsideEndsTheSleep) {
  int ran = 0;
  for (int i = 1; i <= 100; ++i) {
    ASSERT_TRUE(loop_->PrepareSleep());
    RunUserCode(*loop_, [&] { ++ran; });
    Sleep();
    EXPECT_TRUE(loop_->RunOnce());
    ASSERT_EQ(ran, i);
  }
}

TEST_F(EventLoopSleepTest, ATimerSetFromOutsideEndsTheSleep) {
  bool fired = false;
  Timer far([] { FAIL(); });
  Timer timer([&] { fired = true; });
  ASSERT_TRUE(loop_->TryRun([&] { loop_->SetTimer(far, loop_->now() + hours(1)); }));
  ASSERT_TRUE(loop_->PrepareSleep());
  ASSERT_TRUE(loop_->TryRun([&] { loop_->SetTimer(timer, loop_->now() + milliseconds(1)); }));
  Sleep();
  Drive([&] { return fired; });
  ASSERT_TRUE(loop_->TryRun([&] { loop_->CancelTimer(far); }));
}

TEST_F(EventLoopSleepTest, ATimerOfThePastSetFromOutsideEndsTheSleep) {
  for (const TimePoint when : {TimePoint{}, TimePoint::min(), clock_.Now()}) {
    bool fired = false;
    Timer timer([&] { fired = true; });
    ASSERT_TRUE(loop_->PrepareSleep());
    ASSERT_TRUE(loop_->TryRun([&] { loop_->SetTimer(timer, when); }));
    Sleep();
    Drive([&] { return fired; });
  }
}

TEST_F(EventLoopSleepTest, OutputLeftFromOutsideEndsTheSleep) {
  // It feeds itself a few times, more than one call flushes.
  int left = 9;
  CountingOutput* self = nullptr;
  CountingOutput output([&] {
    if (--left > 0) loop_->FlushLater(*self);
  });
  self = &output;
  ASSERT_TRUE(loop_->PrepareSleep());
  ASSERT_TRUE(loop_->TryRun([&] { loop_->FlushLater(output); }));
  EXPECT_GT(left, 0);
  Sleep();
  Drive([&] { return left == 0; });
}

TEST_F(EventLoopSleepTest, WhatWaitsRefusesTheSleep) {
  Timer timer([] {});
  ASSERT_TRUE(loop_->TryRun([&] { loop_->SetTimer(timer, loop_->now()); }));
  EXPECT_FALSE(loop_->PrepareSleep());
  EXPECT_TRUE(loop_->RunOnce());
  RunUserCode(*loop_, [] {});
  EXPECT_FALSE(loop_->PrepareSleep());
  EXPECT_TRUE(loop_->RunOnce());
  CountingOutput output;
  loop_->Post([&] { loop_->FlushLater(output); });
  EXPECT_TRUE(loop_->Turn());
  EXPECT_FALSE(loop_->PrepareSleep());
  loop_->FlushAll();
  EXPECT_EQ(output.flushes, 1);
}

TEST_F(EventLoopSleepTest, TimersFireThroughManySleeps) {
  int fired = 0;
  TimePoint due{};
  Timer timer([&] {
    EXPECT_GE(loop_->now(), due);
    due = loop_->now() + microseconds(50 + 13 * (fired % 17));
    if (++fired < 200) loop_->SetTimer(timer, due);
  });
  due = clock_.Now();
  ASSERT_TRUE(loop_->TryRun([&] { loop_->SetTimer(timer, due); }));
  Drive([&] { return fired == 200; });
}

TEST_F(EventLoopSleepTest, AnEarlierAlarmThatWasCancelledDoesNotHideTheLater) {
  bool fired = false;
  Timer early([] { FAIL(); });
  Timer late([&] { fired = true; });
  ASSERT_TRUE(loop_->TryRun([&] { loop_->SetTimer(early, loop_->now() + milliseconds(2)); }));
  ASSERT_TRUE(loop_->PrepareSleep());
  ASSERT_TRUE(loop_->TryRun([&] {
    loop_->CancelTimer(early);
    loop_->SetTimer(late, loop_->now() + milliseconds(5));
  }));
  Sleep();
  Drive([&] { return fired; });
}

TEST(EventLoopClockTest, ATimerFiresThoughTheClockLagsBehindTheKernels) {
  LaggingClock clock;
  const std::unique_ptr<EventLoop> loop = *EventLoop::Create(clock);
  Guard guard(*loop);
  int fired = 0;
  Timer timer([&] {
    if (++fired < 20) loop->SetTimer(timer, loop->now() + microseconds(500));
  });
  ASSERT_TRUE(loop->TryRun([&] { loop->SetTimer(timer, loop->now() + microseconds(500)); }));
  while (fired < 20 && !testing::Test::HasFailure()) {
    if (loop->RunOnce() || !loop->PrepareSleep()) continue;
    loop->Sleep();
    loop->Awake();
  }
}

TEST_F(EventLoopSleepTest, ASourceIsArmedForTheSleepOnly) {
  FakeSource source;
  Add(source);
  EXPECT_FALSE(source.armed);
  ASSERT_TRUE(loop_->PrepareSleep());
  EXPECT_TRUE(source.armed);
  source.Complete();
  Sleep();
  EXPECT_FALSE(source.armed);
  EXPECT_TRUE(loop_->RunOnce());
  EXPECT_EQ(source.work, 0);
  EXPECT_FALSE(loop_->RunOnce());
  Remove(source);
}

TEST_F(EventLoopSleepTest, ASourceThatRefusesKeepsTheLoopAwakeAndAllDisarmed) {
  FakeSource a;
  FakeSource b;
  FakeSource c;
  for (FakeSource* source : {&a, &b, &c}) Add(*source);
  b.refuse = true;
  EXPECT_FALSE(loop_->PrepareSleep());
  for (FakeSource* source : {&a, &b, &c}) EXPECT_FALSE(source->armed);
  b.refuse = false;
  EXPECT_TRUE(loop_->PrepareSleep());
  for (FakeSource* source : {&a, &b, &c}) EXPECT_TRUE(source->armed);
  loop_->Post([] {});
  Sleep();
  for (FakeSource* source : {&a, &b, &c}) {
    EXPECT_FALSE(source->armed);
    loop_->RunOnce();
    Remove(*source);
  }
}

TEST_F(EventLoopSleepTest, ASourceAddedDuringTheSleepWakesTheLoopAndIsNotDisarmed) {
  FakeSource source;
  ASSERT_TRUE(loop_->PrepareSleep());
  Add(source);
  Sleep();  // Disarm would fail the test
  source.Complete();
  EXPECT_TRUE(loop_->RunOnce());
  EXPECT_EQ(source.work, 0);
  Remove(source);
}

TEST_F(EventLoopSleepTest, ASourceRemovedDuringTheSleepIsDisarmed) {
  FakeSource source;
  Add(source);
  ASSERT_TRUE(loop_->PrepareSleep());
  Remove(source);
  EXPECT_FALSE(source.armed);
  loop_->Post([] {});
  Sleep();
}

TEST_F(EventLoopSleepTest, ASourceMayRemoveItselfAndOthersWhileItIsPolled) {
  FakeSource a;
  FakeSource b;
  FakeSource c;
  for (FakeSource* source : {&a, &b, &c}) Add(*source);
  a.on_poll = [&] { loop_->RemoveSource(a); };
  EXPECT_FALSE(loop_->RunOnce());
  EXPECT_EQ(b.polls, 1) << "skipped";
  EXPECT_EQ(c.polls, 1);
  c.on_poll = [&] {
    loop_->RemoveSource(b);
    loop_->RemoveSource(c);
  };
  EXPECT_FALSE(loop_->RunOnce());
  EXPECT_EQ(a.polls, 1);
  EXPECT_EQ(b.polls, 2);
  EXPECT_FALSE(loop_->RunOnce());
  EXPECT_EQ(b.polls, 2);
}

TEST_F(EventLoopSleepTest, ASourceMayAddOthersWhileItIsPolled) {
  FakeSource a;
  FakeSource more[20];
  bool added = false;
  a.on_poll = [&] {
    if (std::exchange(added, true)) return;
    for (FakeSource& source : more) ASSERT_TRUE(loop_->AddSource(source).ok());
  };
  Add(a);
  loop_->RunOnce();
  loop_->RunOnce();
  for (FakeSource& source : more) {
    EXPECT_GE(source.polls, 1);
    Remove(source);
  }
  Remove(a);
}

}  // namespace
}  // namespace farcall
