// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/loop_visitor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "transport/base/clock.h"
#include "transport/loop/drivers/loop_driver.h"
#include "transport/loop/loop_testing.h"
#include "transport/loop/loop_visitor_testing.h"

namespace farcall {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

class LoopVisitorTest : public testing::TestWithParam<PollingMode> {
 protected:
  void Start() {
    LoopDriverOptions options;
    options.polling.mode = GetParam();
    driver_ = *LoopDriver::Start(*loop_, options);
  }
  // Calls until one was ended by the caller's own turn.
  [[nodiscard]] bool CallUntilDriving(Caller& caller) {
    const TimePoint late = clock_.Now() + kTestTimeout;
    while (clock_.Now() < late) {
      if (caller.Call(microseconds(20)) == std::this_thread::get_id()) return true;
    }
    return false;
  }

  SteadyClock clock_;
  std::unique_ptr<EventLoop> loop_ = *EventLoop::Create(clock_);
  std::unique_ptr<LoopDriver> driver_;
};

TEST_P(LoopVisitorTest, WhatHasHappenedIsNotWaitedFor) {
  LoopVisitor visitor;
  loop_->RunOrPost([&] { visitor.Done(*loop_); });
  visitor.Wait(*loop_);
}

TEST_P(LoopVisitorTest, ALoopThatIsSteppedByHandIsLeftToThatHand) {
  Caller caller(*loop_);
  std::atomic<bool> over{false};
  const std::thread::id by_hand = std::this_thread::get_id();
  std::thread thread([&] {
    for (int i = 0; i < 20; ++i) EXPECT_EQ(caller.Call(microseconds(50)), by_hand);
    over = true;
  });
  while (!over) {
    if (!loop_->RunOnce()) std::this_thread::yield();
  }
  thread.join();
}

TEST_P(LoopVisitorTest, CallsInARowAreDrivenByTheirCaller) {
  Start();
  Caller caller(*loop_);
  EXPECT_TRUE(CallUntilDriving(caller));
}

TEST_P(LoopVisitorTest, WhereAThreadIsNeededItDrives) {
  Start();
  loop_->RunOrPost([&] { loop_->NeedThread(+1); });
  Caller caller(*loop_);
  for (int i = 0; i < 200; ++i) {
    EXPECT_NE(caller.Call(microseconds(20)), std::this_thread::get_id());
  }
  loop_->RunOrPost([&] { loop_->NeedThread(-1); });
  EXPECT_TRUE(CallUntilDriving(caller));
}

TEST_P(LoopVisitorTest, UserCodeRunsElsewhereAndTheCallGoesOn) {
  Start();
  Caller caller(*loop_);
  const std::thread::id here = std::this_thread::get_id();
  std::atomic<int> ran{0};
  for (int i = 1; i <= 50; ++i) {
    ASSERT_TRUE(CallUntilDriving(caller));
    const int begun = caller.begun.count();
    std::thread outside([&] {
      EXPECT_TRUE(caller.begun.Wait(begun + 1));
      RunUserCode(*loop_, [&] {
        EXPECT_NE(std::this_thread::get_id(), here);
        ++ran;
        // As an answer that comes after a closure.
        loop_->RunOrPost([&] { caller.End(); });
      });
    });
    caller.Call(std::nullopt);
    outside.join();
    EXPECT_EQ(ran, i);
  }
}

TEST_P(LoopVisitorTest, WhoEndsACallFromOutsideEndsTheSleepOfItsCaller) {
  Start();
  Caller caller(*loop_);
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(CallUntilDriving(caller));
    const int begun = caller.begun.count();
    std::thread outside([&] {
      EXPECT_TRUE(caller.begun.Wait(begun + 1));
      loop_->RunOrPost([&] { caller.End(); });
    });
    caller.Call(std::nullopt);
    outside.join();
  }
}

TEST_P(LoopVisitorTest, WhatComesWhereNobodyDrivesFindsTheThread) {
  Start();
  Caller caller(*loop_);
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(CallUntilDriving(caller));
    TestEvent happened;
    if (i % 2 == 0) {
      loop_->Post([&] { happened.Signal(); });
    } else {
      RunUserCode(*loop_, [&] { happened.Signal(); });
    }
    EXPECT_TRUE(happened.Wait());
  }
}

TEST_P(LoopVisitorTest, ATimerOfWhichNobodyTellsTheThreadFiresWhereNobodyDrives) {
  Start();
  Caller caller(*loop_);
  TestEvent fired;
  Timer timer([&] { fired.Signal(); });
  for (int i = 1; i <= 50; ++i) {
    ASSERT_TRUE(CallUntilDriving(caller));
    loop_->RunOrPost([&] { loop_->SetTimer(timer, loop_->now() + microseconds(10)); });
    EXPECT_TRUE(fired.Wait(i));
  }
  driver_.reset();
}

TEST_P(LoopVisitorTest, ADriverEndsWhereNobodyDrives) {
  for (int i = 0; i < 20; ++i) {
    Start();
    Caller caller(*loop_);
    ASSERT_TRUE(CallUntilDriving(caller));
    driver_.reset();
  }
}

// Callers that come and go, posts, user code, and needs that come and go, all at once.
TEST_P(LoopVisitorTest, StormsEnd) {
  constexpr int kCallers = 6;
  constexpr int kCalls = 300;
  Start();
  std::vector<std::unique_ptr<Caller>> callers;
  std::vector<std::thread> threads;
  std::atomic<int> ended{0};
  for (int i = 0; i < kCallers; ++i) callers.push_back(std::make_unique<Caller>(*loop_));
  for (int i = 0; i < kCallers; ++i) {
    threads.emplace_back([&, i] {
      for (int call = 0; call < kCalls; ++call) {
        callers[i]->Call(microseconds((call * 7 + i * 13) % 200));
        ++ended;
      }
    });
  }
  std::atomic<int> posts{0};
  std::atomic<int> tasks{0};
  int sent = 0;
  while (ended < kCallers * kCalls) {
    ++sent;
    loop_->Post([&] { ++posts; });
    RunUserCode(*loop_, [&] { ++tasks; });
    loop_->RunOrPost([&] { loop_->NeedThread(+1); });
    loop_->RunOrPost([one = callers[static_cast<size_t>(sent % kCallers)].get()] { one->End(); });
    loop_->RunOrPost([&] { loop_->NeedThread(-1); });
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  driver_.reset();
  EXPECT_EQ(posts, sent);
  EXPECT_EQ(tasks, sent);
}

INSTANTIATE_TEST_SUITE_P(Polling, LoopVisitorTest,
                         testing::Values(PollingMode::kEvent, PollingMode::kAdaptive),
                         [](const auto& mode) {
                           return mode.param == PollingMode::kEvent ? "Event" : "Adaptive";
                         });

}  // namespace
}  // namespace farcall
