// SPDX-License-Identifier: Apache-2.0
//
// User code and output of a loop.

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "transport/base/clock.h"
#include "transport/loop/event_loop.h"
#include "transport/loop/loop_testing.h"

namespace farcall {
namespace {

class EventLoopUserTest : public testing::Test {
 protected:
  void Run() {
    for (int i = 0; loop_->RunOnce(); ++i) ASSERT_LT(i, 1000);
  }

  ManualClock clock_;
  std::unique_ptr<EventLoop> loop_ = *EventLoop::Create(clock_);
};

TEST_F(EventLoopUserTest, UserCodeRunsWithNothingHeld) {
  bool free = false;
  RunUserCode(*loop_, [&] { free = !loop_->held() && loop_->TryRun([] {}); });
  EXPECT_FALSE(free);
  EXPECT_TRUE(loop_->RunOnce());
  EXPECT_TRUE(free);
}

TEST_F(EventLoopUserTest, AnotherThreadEntersTheLoopWhileUserCodeRuns) {
  bool entered = false;
  RunUserCode(*loop_, [&] {
    std::thread other([&] { entered = loop_->TryRun([] {}); });
    other.join();
  });
  Run();
  EXPECT_TRUE(entered);
}

TEST_F(EventLoopUserTest, UserCodeRunsInTheOrderOfQueueing) {
  std::vector<int> order;
  loop_->Post([&] {
    for (int i = 0; i < 5; ++i) {
      UserClosure::Queue(*loop_, [&order, i] { order.push_back(i); });
    }
  });
  EXPECT_TRUE(loop_->RunOnce());
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST_F(EventLoopUserTest, UserCodeThatBegetsUserCodeLeavesATurnBetween) {
  std::vector<int> order;
  Timer timer([&] { order.push_back(2); });
  loop_->RunOrPost([&] {
    loop_->SetTimer(timer, loop_->now() + std::chrono::seconds(1));
    UserClosure::Queue(*loop_, [&] {
      clock_.Advance(std::chrono::seconds(1));
      RunUserCode(*loop_, [&] { order.push_back(3); });
      order.push_back(1);
    });
  });
  EXPECT_TRUE(loop_->RunOnce());
  EXPECT_EQ(order, (std::vector<int>{1}));
  EXPECT_TRUE(loop_->RunOnce());
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
  EXPECT_FALSE(loop_->RunOnce());
}

TEST_F(EventLoopUserTest, TakeUserGivesWhatTheTurnFound) {
  DriverClaim::Piece piece = 0;
  EXPECT_EQ(loop_->TakeUser(piece), nullptr);
  int ran = 0;
  RunUserCode(*loop_, [&] { ++ran; });
  EXPECT_EQ(loop_->TakeUser(piece), nullptr);
  EXPECT_TRUE(loop_->Turn());
  UserTask* const task = loop_->TakeUser(piece);
  ASSERT_NE(task, nullptr);
  EXPECT_EQ(loop_->TakeUser(piece), nullptr);
  task->Run();
  EXPECT_EQ(ran, 1);
  EXPECT_FALSE(loop_->Turn());
}

TEST_F(EventLoopUserTest, ATurnLeftToAnotherThreadStillHasItsUserCode) {
  int ran = 0;
  loop_->RunOrPost([&] {
    UserClosure::Queue(*loop_, [&] { ++ran; });
    UserClosure::Queue(*loop_, [&] { ++ran; });
  });
  EXPECT_TRUE(loop_->Turn());
  DriverClaim::Piece piece = 0;
  UserTask* const first = loop_->TakeUser(piece);
  std::thread other([&] {
    EXPECT_TRUE(loop_->Turn());
    DriverClaim::Piece others = 0;
    loop_->TakeUser(others)->Run();
    EXPECT_EQ(loop_->TakeUser(others), nullptr);
  });
  other.join();
  first->Run();
  EXPECT_EQ(ran, 2);
}

TEST_F(EventLoopUserTest, WhoLostTheDriveGetsNoMoreUserCode) {
  int ran = 0;
  loop_->RunOrPost([&] {
    for (int i = 0; i < 3; ++i) UserClosure::Queue(*loop_, [&] { ++ran; });
  });
  EXPECT_TRUE(loop_->Turn());
  DriverClaim::Piece piece = 0;
  loop_->TakeUser(piece)->Run();
  EXPECT_EQ(loop_->claim_state(), piece);
  EXPECT_TRUE(DriverClaim::Watched(piece));
  EXPECT_TRUE(loop_->TakeDrive(piece));
  EXPECT_FALSE(loop_->TakeDrive(piece)) << "it is taken once";
  EXPECT_EQ(loop_->TakeUser(piece), nullptr);
  EXPECT_FALSE(loop_->EndTurn(piece));
  EXPECT_TRUE(loop_->RunOnce()) << "another one drives";
  EXPECT_EQ(ran, 3);
}

TEST_F(EventLoopUserTest, UserCodeThatEndedCannotBeTaken) {
  RunUserCode(*loop_, [] {});
  EXPECT_TRUE(loop_->Turn());
  DriverClaim::Piece piece = 0;
  loop_->TakeUser(piece)->Run();
  EXPECT_TRUE(loop_->EndTurn(piece));
  EXPECT_FALSE(loop_->TakeDrive(piece));
}

TEST_F(EventLoopUserTest, UserCodeThatKeepsTheDriveIsNotWatched) {
  UserClosure* const closure = new UserClosure([] {});
  closure->keeps_drive = true;
  loop_->RunOrPost([&] { loop_->RunUser(*closure); });
  EXPECT_TRUE(loop_->Turn());
  DriverClaim::Piece piece = 0;
  UserTask* const task = loop_->TakeUser(piece);
  EXPECT_FALSE(DriverClaim::Watched(loop_->claim_state()));
  EXPECT_TRUE(loop_->TakeDrive(piece)) << "it may give it away itself";
  task->Run();
  EXPECT_FALSE(loop_->EndTurn(piece));
}

TEST_F(EventLoopUserTest, TurnsWithoutUserCodeLeaveTheDriveAsItIs) {
  const DriverClaim::Piece before = loop_->claim_state();
  loop_->Post([] {});
  EXPECT_TRUE(loop_->RunOnce());
  EXPECT_EQ(loop_->claim_state(), before);
}

TEST_F(EventLoopUserTest, OutputOfWhoLosesTheDriveIsLeftToTheNextAndThenFlushedAtOnce) {
  CountingOutput before;
  CountingOutput after;
  RunUserCode(*loop_, [&] {
    loop_->RunOrPost([&] { loop_->FlushLater(before); });
    EXPECT_TRUE(loop_->TakeDrive(loop_->claim_state()));
    EXPECT_EQ(before.flushes, 0);
    loop_->FlushAll();  // as the next driver does
    EXPECT_EQ(before.flushes, 1);
    loop_->RunOrPost([&] { loop_->FlushLater(after); });
    EXPECT_EQ(after.flushes, 1);
  });
  EXPECT_TRUE(loop_->RunOnce());
}

TEST_F(EventLoopUserTest, OutputFromOutsideIsFlushedBeforeRunOrPostReturns) {
  CountingOutput output([&] { EXPECT_TRUE(loop_->held()); });
  loop_->RunOrPost([&] {
    loop_->FlushLater(output);
    loop_->FlushLater(output);
    EXPECT_EQ(output.flushes, 0);
  });
  EXPECT_EQ(output.flushes, 1);
  EXPECT_FALSE(loop_->RunOnce());
}

TEST_F(EventLoopUserTest, OutputOfUserCodeIsFlushedOnceAtTheEndOfTheTurn) {
  CountingOutput output;
  loop_->RunOrPost([&] {
    for (int i = 0; i < 3; ++i) {
      UserClosure::Queue(*loop_, [&] {
        loop_->RunOrPost([&] { loop_->FlushLater(output); });
        EXPECT_EQ(output.flushes, 0);
      });
    }
  });
  EXPECT_TRUE(loop_->RunOnce());
  EXPECT_EQ(output.flushes, 1);
}

TEST_F(EventLoopUserTest, OutputOfATurnIsFlushedOnceAtItsEnd) {
  CountingOutput output;
  Timer timer([&] { loop_->FlushLater(output); });
  loop_->RunOrPost([&] { loop_->SetTimer(timer, loop_->now()); });
  loop_->Post([&] { loop_->FlushLater(output); });
  EXPECT_TRUE(loop_->RunOnce());
  EXPECT_EQ(output.flushes, 1);
  EXPECT_FALSE(loop_->RunOnce());
}

TEST_F(EventLoopUserTest, OutputForAnotherLoopIsFlushedAtOnceFromUserCode) {
  const std::unique_ptr<EventLoop> other = *EventLoop::Create(clock_);
  CountingOutput output;
  RunUserCode(*loop_, [&] {
    other->RunOrPost([&] { other->FlushLater(output); });
    EXPECT_EQ(output.flushes, 1);
  });
  Run();
  EXPECT_EQ(output.flushes, 1);
}

TEST_F(EventLoopUserTest, AnotherThreadFlushesAtOnceWhileUserCodeRuns) {
  CountingOutput output;
  RunUserCode(*loop_, [&] {
    std::thread other([&] { loop_->RunOrPost([&] { loop_->FlushLater(output); }); });
    other.join();
    EXPECT_EQ(output.flushes, 1);
  });
  Run();
}

TEST_F(EventLoopUserTest, ForgottenOutputIsNotFlushed) {
  CountingOutput output;
  loop_->RunOrPost([&] {
    loop_->FlushLater(output);
    loop_->ForgetFlush(output);
  });
  EXPECT_EQ(output.flushes, 0);
  Run();
  EXPECT_EQ(output.flushes, 0);
}

TEST_F(EventLoopUserTest, OutputThatFeedsItselfDoesNotHoldTheLoopForEver) {
  CountingOutput* self = nullptr;
  CountingOutput output([&] { loop_->FlushLater(*self); });
  self = &output;
  loop_->RunOrPost([&] { loop_->FlushLater(output); });
  const int first = output.flushes;
  EXPECT_GT(first, 0);
  // What is left is work for the next turn.
  EXPECT_TRUE(loop_->RunOnce());
  EXPECT_GT(output.flushes, first);
  loop_->RunOrPost([&] { loop_->ForgetFlush(output); });
}

TEST_F(EventLoopUserTest, WhatAFlushPostsAndQueuesIsNotLost) {
  bool posted = false;
  bool user = false;
  CountingOutput output([&] {
    loop_->Post([&] { posted = true; });
    UserClosure::Queue(*loop_, [&] { user = true; });
  });
  loop_->Post([&] { loop_->FlushLater(output); });
  Run();
  EXPECT_TRUE(posted);
  EXPECT_TRUE(user);
}

TEST_F(EventLoopUserTest, UserCodeMayStepTheLoop) {
  // A synchronous call in virtual time does this.
  CountingOutput output;
  bool inner = false;
  RunUserCode(*loop_, [&] {
    RunUserCode(*loop_, [&] { inner = true; });
    EXPECT_TRUE(loop_->RunOnce());
    EXPECT_TRUE(inner);
    // The outer turn goes on: what is written now is flushed at its end.
    loop_->RunOrPost([&] { loop_->FlushLater(output); });
    EXPECT_EQ(output.flushes, 0);
  });
  Run();
  EXPECT_EQ(output.flushes, 1);
}

}  // namespace
}  // namespace farcall
