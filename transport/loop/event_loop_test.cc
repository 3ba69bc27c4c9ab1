// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/event_loop.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "transport/base/clock.h"
#include "transport/loop/loop_testing.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A loop that is stepped by hand in virtual time.
class EventLoopTest : public testing::Test {
 protected:
  // Turns until there is nothing to do.
  void Run() {
    for (int i = 0; loop_->RunOnce(); ++i) ASSERT_LT(i, 1000);
  }
  template <typename Work>
  void Held(Work work) {
    ASSERT_TRUE(loop_->TryRun(work));
  }

  ManualClock clock_;
  std::unique_ptr<EventLoop> loop_ = *EventLoop::Create(clock_);
};

TEST_F(EventLoopTest, HasNothingToDoAtFirst) {
  EXPECT_FALSE(loop_->RunOnce());
  EXPECT_EQ(loop_->NextTimer(), std::nullopt);
  EXPECT_FALSE(loop_->held());
}

TEST_F(EventLoopTest, PostRunsInTheNextTurnWithTheLoopHeld) {
  bool held = false;
  loop_->Post([&] { held = loop_->held(); });
  EXPECT_FALSE(held);
  EXPECT_TRUE(loop_->RunOnce());
  EXPECT_TRUE(held);
  EXPECT_FALSE(loop_->held());
  EXPECT_FALSE(loop_->RunOnce());
}

TEST_F(EventLoopTest, RunOrPostRunsAtOnceWhenTheLoopIsFree) {
  bool held = false;
  loop_->RunOrPost([&] { held = loop_->held(); });
  EXPECT_TRUE(held);
  EXPECT_FALSE(loop_->RunOnce());
}

TEST_F(EventLoopTest, RunOrPostPostsBehindWhatWaits) {
  std::vector<int> order;
  loop_->Post([&] { order.push_back(1); });
  loop_->RunOrPost([&] { order.push_back(2); });
  EXPECT_FALSE(loop_->TryRun([&] { order.push_back(3); }));
  EXPECT_TRUE(order.empty());
  Run();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST_F(EventLoopTest, RunOrPostPostsWhenAnotherThreadHoldsTheLoop) {
  TestEvent entered;
  TestEvent leave;
  std::thread other([&] {
    loop_->RunOrPost([&] {
      entered.Signal();
      EXPECT_TRUE(leave.Wait());
    });
  });
  ASSERT_TRUE(entered.Wait());
  bool ran = false;
  EXPECT_FALSE(loop_->TryRun([&] { ran = true; }));
  loop_->RunOrPost([&] { ran = true; });
  EXPECT_FALSE(ran);
  EXPECT_FALSE(loop_->held());
  leave.Signal();
  other.join();
  Run();
  EXPECT_TRUE(ran);
}

TEST_F(EventLoopTest, RunOrPostTakesWhatCanOnlyBeMoved) {
  auto one = std::make_unique<int>(1);
  auto two = std::make_unique<int>(2);
  int sum = 0;
  loop_->RunOrPost([&sum, one = std::move(one)] { sum += *one; });
  loop_->Post([] {});
  loop_->RunOrPost([&sum, two = std::move(two)] { sum += *two; });
  Run();
  EXPECT_EQ(sum, 3);
}

TEST_F(EventLoopTest, WhatIsPostedWithTheLoopHeldWaitsForTheNextTurn) {
  std::vector<int> order;
  loop_->Post([&] {
    loop_->Post([&] { order.push_back(2); });
    order.push_back(1);
  });
  EXPECT_TRUE(loop_->RunOnce());
  EXPECT_EQ(order, (std::vector<int>{1}));
  EXPECT_TRUE(loop_->RunOnce());
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST_F(EventLoopTest, AMailboxThatRefillsStarvesNeitherTimersNorUserCode) {
  struct Again {
    EventLoop& loop;
    int& runs;
    void operator()() {
      ++runs;
      loop.Post(Again{loop, runs});
    }
  };
  int runs = 0;
  bool fired = false;
  bool user = false;
  Timer timer([&] { fired = true; });
  Held([&] {
    loop_->SetTimer(timer, loop_->now());
    UserClosure::Queue(*loop_, [&] { user = true; });
  });
  loop_->Post(Again{*loop_, runs});
  EXPECT_TRUE(loop_->RunOnce());
  EXPECT_EQ(runs, 1);
  EXPECT_TRUE(fired);
  EXPECT_TRUE(user);
}

TEST_F(EventLoopTest, TimersFireInVirtualTime) {
  std::vector<int> order;
  Timer late([&] { order.push_back(2); });
  Timer soon([&] {
    EXPECT_TRUE(loop_->held());
    order.push_back(1);
  });
  const TimePoint start = clock_.Now();
  Held([&] {
    loop_->SetTimer(late, start + seconds(2));
    loop_->SetTimer(soon, start + seconds(1));
  });
  EXPECT_EQ(loop_->NextTimer(), start + seconds(1));
  EXPECT_FALSE(loop_->RunOnce());
  clock_.Advance(seconds(1));
  EXPECT_TRUE(loop_->RunOnce());
  EXPECT_EQ(order, (std::vector<int>{1}));
  EXPECT_EQ(loop_->NextTimer(), start + seconds(2));
  clock_.Advance(seconds(1));
  EXPECT_TRUE(loop_->RunOnce());
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST_F(EventLoopTest, ATimerThatSetsItselfForNowLetsTheTurnEnd) {
  int fired = 0;
  Timer timer([&] {
    if (++fired < 3) loop_->SetTimer(timer, loop_->now());
  });
  Held([&] { loop_->SetTimer(timer, loop_->now()); });
  for (int i = 1; i <= 3; ++i) {
    EXPECT_TRUE(loop_->RunOnce());
    EXPECT_EQ(fired, i);
  }
  EXPECT_FALSE(loop_->RunOnce());
}

TEST_F(EventLoopTest, ACancelledTimerDoesNotFire) {
  Timer timer([] { FAIL(); });
  Held([&] { loop_->SetTimer(timer, clock_.Now()); });
  Held([&] { loop_->CancelTimer(timer); });
  clock_.Advance(seconds(1));
  EXPECT_FALSE(loop_->RunOnce());
}

TEST_F(EventLoopTest, NowIsReadWhenTheLoopIsEntered) {
  clock_.Advance(seconds(1));
  TimePoint seen{};
  Held([&] { seen = loop_->now(); });
  EXPECT_EQ(seen, clock_.Now());
  Timer timer([&] { seen = loop_->now(); });
  Held([&] { loop_->SetTimer(timer, clock_.Now()); });
  clock_.Advance(seconds(1));
  Run();
  EXPECT_EQ(seen, clock_.Now());
}

TEST_F(EventLoopTest, WhoHasReadTheClockBringsTheTimeAndNoneGoesBack) {
  const TimePoint before = clock_.Now();
  clock_.Advance(milliseconds(7));
  const TimePoint read = clock_.Now();
  clock_.Advance(milliseconds(7));
  EXPECT_TRUE(loop_->TryRunAt(read, [&] { EXPECT_EQ(loop_->now(), read); }));
  EXPECT_TRUE(loop_->TryRunAt(before, [&] { EXPECT_EQ(loop_->now(), read); }));
  EXPECT_TRUE(loop_->TryRun([&] { EXPECT_EQ(loop_->now(), clock_.Now()); }));
}

TEST_F(EventLoopTest, TheTimeIsNotBroughtToALoopThatIsBusy) {
  int ran = 0;
  loop_->Post([&] { ++ran; });
  EXPECT_FALSE(loop_->TryRunAt(clock_.Now(), [&] { ran += 10; }));
  EXPECT_TRUE(loop_->RunOnce());
  EXPECT_EQ(ran, 1);
}

TEST_F(EventLoopTest, NowIsFreshInAFlushAfterLongUserCode) {
  TimePoint seen{};
  CountingOutput output([&] { seen = loop_->now(); });
  Held([&] {
    UserClosure::Queue(*loop_, [&] {
      loop_->RunOrPost([&] { loop_->FlushLater(output); });
      clock_.Advance(milliseconds(10));
    });
  });
  Run();
  EXPECT_EQ(seen, clock_.Now());
}

TEST_F(EventLoopTest, WhoGathersIsFlushedBeforeTheOthers) {
  std::vector<std::string> order;
  CountingOutput below([&] { order.push_back("below"); });
  CountingOutput gathers([&] {
    order.push_back("gathers");
    loop_->FlushLater(below);
  });
  gathers.flushes_first = true;
  CountingOutput forgotten([&] { order.push_back("forgotten"); });
  forgotten.flushes_first = true;
  Held([&] {
    loop_->FlushLater(below);
    loop_->FlushLater(gathers);
    loop_->FlushLater(forgotten);
    loop_->ForgetFlush(forgotten);
  });
  EXPECT_EQ(order, (std::vector<std::string>{"gathers", "below"}));
}

TEST_F(EventLoopTest, TwoLoopsDoNotKnowOfEachOther) {
  const std::unique_ptr<EventLoop> other = *EventLoop::Create(clock_);
  bool ran = false;
  loop_->Post([&] {
    EXPECT_FALSE(other->held());
    other->Post([&] {
      EXPECT_TRUE(other->held());
      EXPECT_FALSE(loop_->held());
      ran = true;
    });
  });
  EXPECT_TRUE(loop_->RunOnce());
  EXPECT_FALSE(ran);
  EXPECT_TRUE(other->RunOnce());
  EXPECT_TRUE(ran);
}

TEST_F(EventLoopTest, WhatWasPostedAndNotRunDiesWithTheLoopHeld) {
  struct Probe {
    explicit Probe(EventLoop* l, bool* h) : loop(l), held(h) {}
    ~Probe() { *held = loop->held(); }
    EventLoop* loop;
    bool* held;
  };
  bool held = false;
  loop_->Post([probe = std::make_unique<Probe>(loop_.get(), &held)] { FAIL() << probe->held; });
  loop_.reset();
  EXPECT_TRUE(held);
}

}  // namespace
}  // namespace farcall
