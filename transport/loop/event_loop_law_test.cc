// SPDX-License-Identifier: Apache-2.0
//
// Code that breaks the loop's law gets a clear error.

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <memory>

#include "transport/base/clock.h"
#include "transport/loop/event_loop.h"
#include "transport/loop/loop_testing.h"

namespace farcall {
namespace {

class QuietSource final : public PollSource {
 public:
  bool Poll() override { return false; }
  bool Arm() override { return true; }
  void Disarm() override {}
  int fd() const override { return fd_.get(); }

 private:
  UniqueFd fd_{::eventfd(0, EFD_CLOEXEC)};
};

constexpr char kNotHeld[] = "touched only while the loop is held";
constexpr char kHoldsOne[] = "a thread holds one loop at most";

class EventLoopLawDeathTest : public testing::Test {
 protected:
  // In processes that are no children of this one: a loop works in its own only.
  EventLoopLawDeathTest() { testing::FLAGS_gtest_death_test_style = "threadsafe"; }

  ManualClock clock_;
  std::unique_ptr<EventLoop> loop_ = *EventLoop::Create(clock_);
  std::unique_ptr<EventLoop> other_ = *EventLoop::Create(clock_);
};

TEST_F(EventLoopLawDeathTest, WhatBelongsToALoopIsNotTouchedFromOutside) {
  Timer timer([] {});
  CountingOutput output;
  QuietSource source;
  EXPECT_DEATH(loop_->SetTimer(timer, clock_.Now()), kNotHeld);
  EXPECT_DEATH(loop_->FlushLater(output), kNotHeld);
  EXPECT_DEATH(UserClosure::Queue(*loop_, [] {}), kNotHeld);
  EXPECT_DEATH(loop_->fds(), kNotHeld);
  EXPECT_DEATH(loop_->AddSource(source).IgnoreError(), kNotHeld);
  EXPECT_DEATH(loop_->RemoveSource(source), kNotHeld);
}

TEST_F(EventLoopLawDeathTest, HoldingAnotherLoopIsNotHoldingThisOne) {
  Timer timer([] {});
  EXPECT_DEATH(other_->RunOrPost([&] { loop_->SetTimer(timer, clock_.Now()); }), kNotHeld);
}

TEST_F(EventLoopLawDeathTest, UserCodeHoldsNothing) {
  Timer timer([] {});
  RunUserCode(*loop_, [&] { loop_->SetTimer(timer, clock_.Now()); });
  EXPECT_DEATH(loop_->RunOnce(), kNotHeld);
  // It is run here, so that the loop may die: with a loop to hold.
  EXPECT_TRUE(loop_->Turn());
  DriverClaim::Piece piece = 0;
  UserTask* const task = loop_->TakeUser(piece);
  loop_->RunOrPost([&] {
    task->Run();
    loop_->CancelTimer(timer);
  });
}

TEST_F(EventLoopLawDeathTest, WhatPendsIsTakenBackWithTheLoopHeld) {
  Timer timer([] {});
  loop_->RunOrPost([&] { loop_->SetTimer(timer, clock_.Now()); });
  EXPECT_DEATH(loop_->CancelTimer(timer), kNotHeld);
  loop_->RunOrPost([&] { loop_->CancelTimer(timer); });
}

TEST_F(EventLoopLawDeathTest, WhatDoesNotPendMayBeTakenBackAnywhere) {
  Timer timer([] {});
  CountingOutput output;
  loop_->CancelTimer(timer);
  loop_->ForgetFlush(output);
}

TEST_F(EventLoopLawDeathTest, AThreadDoesNotEnterALoopTwice) {
  EXPECT_DEATH(loop_->RunOrPost([&] { loop_->RunOrPost([] {}); }), kHoldsOne);
  EXPECT_DEATH(loop_->RunOrPost([&] { loop_->TryRun([] {}); }), kHoldsOne);
  EXPECT_DEATH(loop_->RunOrPost([&] { loop_->Turn(); }), kHoldsOne);
  DriverClaim::Piece piece = 0;
  EXPECT_DEATH(loop_->RunOrPost([&] { loop_->TakeUser(piece); }), kHoldsOne);
  EXPECT_DEATH(loop_->RunOrPost([&] { (void)loop_->EndTurn(piece); }), kHoldsOne);
  EXPECT_DEATH(loop_->RunOrPost([&] { (void)loop_->TakeDrive(piece); }), kHoldsOne);
  EXPECT_DEATH(loop_->RunOrPost([&] { loop_->FlushAll(); }), kHoldsOne);
  EXPECT_DEATH(loop_->RunOrPost([&] { loop_->NextTimer(); }), kHoldsOne);
}

TEST_F(EventLoopLawDeathTest, AThreadDoesNotEnterASecondLoop) {
  EXPECT_DEATH(loop_->RunOrPost([&] { other_->RunOrPost([] {}); }), kHoldsOne);
  // Posting is what is left, and it is enough.
  loop_->RunOrPost([&] { other_->Post([] {}); });
  EXPECT_TRUE(other_->RunOnce());
}

TEST_F(EventLoopLawDeathTest, ALoopIsNotDestroyedWhileItIsHeld) {
  EXPECT_DEATH(loop_->RunOrPost([&] { loop_.reset(); }), "not destroyed while one is held");
}

TEST_F(EventLoopLawDeathTest, ALoopIsNotDestroyedBeforeItsUserCodeHasRun) {
  RunUserCode(*loop_, [] {});
  EXPECT_DEATH(loop_.reset(), "user code of a loop is run before");
  EXPECT_TRUE(loop_->RunOnce());
}

TEST_F(EventLoopLawDeathTest, ALoopIsNotDestroyedBeforeItsTimers) {
  Timer timer([] {});
  loop_->RunOrPost([&] { loop_->SetTimer(timer, clock_.Now()); });
  EXPECT_DEATH(loop_.reset(), "what belongs to a loop is destroyed before it");
  loop_->RunOrPost([&] { loop_->CancelTimer(timer); });
}

TEST_F(EventLoopLawDeathTest, ALoopIsNotDestroyedBeforeItsSources) {
  QuietSource source;
  loop_->RunOrPost([&] { EXPECT_TRUE(loop_->AddSource(source).ok()); });
  EXPECT_DEATH(loop_.reset(), "what belongs to a loop is destroyed before it");
  loop_->RunOrPost([&] { loop_->RemoveSource(source); });
}

TEST_F(EventLoopLawDeathTest, ASourceIsRemovedFromItsOwnLoop) {
  QuietSource source;
  EXPECT_DEATH(loop_->RunOrPost([&] { loop_->RemoveSource(source); }),
               "a source is removed from the loop it was added to");
}

}  // namespace
}  // namespace farcall
