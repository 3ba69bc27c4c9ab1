// SPDX-License-Identifier: Apache-2.0
//
// Going to sleep and being woken, by one thread: what another thread would do between
// PrepareSleep and Sleep is done there, so that every order is a fixed one.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "transport/base/clock.h"
#include "transport/loop/event_loop.h"
#include "transport/loop/loop_testing.h"

namespace farcall {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;

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
  SleepGuard guard_{*loop_};
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

TEST_F(EventLoopSleepTest, APostInTheVeryMomentOfFallingAsleepIsNotLost) {
  constexpr int kRounds = 4'000;
  std::atomic<int> round{0};
  std::atomic<int> posted{0};
  const auto await = [](const std::atomic<int>& counter, int value) {
    for (int i = 0; counter.load() < value; ++i) {
      if (i > 2'000) std::this_thread::yield();
    }
  };
  std::thread sender([&] {
    for (int i = 1; i <= kRounds; ++i) {
      await(round, i);
      for (int wait = i % 64; wait > 0; --wait) std::atomic_signal_fence(std::memory_order_seq_cst);
      loop_->Post([] {});
      posted = i;
    }
  });
  for (int i = 1; i <= kRounds && !HasFailure(); ++i) {
    if (i % 100 == 0) guard_.Restart();
    round = i;
    for (int wait = i % 61; wait > 0; --wait) std::atomic_signal_fence(std::memory_order_seq_cst);
    const bool sleep = loop_->PrepareSleep();
    await(posted, i);
    // Either the loop saw the task, or the sender saw the loop asleep.
    if (sleep) Sleep();
    EXPECT_TRUE(loop_->RunOnce());
  }
  round = kRounds;
  sender.join();
}

TEST_F(EventLoopSleepTest, APostBeforeTheSleepRefusesIt) {
  loop_->Post([] {});
  EXPECT_FALSE(loop_->PrepareSleep());
  EXPECT_TRUE(loop_->RunOnce());
  EXPECT_TRUE(loop_->PrepareSleep());
  loop_->Awake();
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
  ASSERT_TRUE(loop_->TryRun([&] { loop_->SetTimer(early, loop_->now() + milliseconds(200)); }));
  ASSERT_TRUE(loop_->PrepareSleep());
  ASSERT_TRUE(loop_->TryRun([&] {
    loop_->CancelTimer(early);
    loop_->SetTimer(late, loop_->now() + milliseconds(205));
  }));
  Sleep();
  Drive([&] { return fired; });
}

TEST(EventLoopClockTest, ATimerFiresThoughTheClockLagsBehindTheKernels) {
  LaggingClock clock;
  const std::unique_ptr<EventLoop> loop = *EventLoop::Create(clock);
  SleepGuard guard(*loop);
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

}  // namespace
}  // namespace farcall
