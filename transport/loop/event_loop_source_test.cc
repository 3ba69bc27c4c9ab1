// SPDX-License-Identifier: Apache-2.0
//
// Poll sources on a loop: armed for the sleep only, and every Arm undone once.

#include <functional>
#include <utility>
#include <vector>

#include "transport/loop/event_loop_source_testing.h"

namespace farcall {
namespace {

TEST_F(EventLoopSourceTest, ASourceIsArmedForTheSleepOnly) {
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

// A device writes the completion first, and tells of it some microseconds later.
TEST_F(EventLoopSourceTest, AnEventThatComesAfterItsWorkWasFoundKeepsNobodyAwake) {
  FakeSource source;
  Add(source);
  ASSERT_TRUE(loop_->PrepareSleep());
  loop_->Post([] {});
  Sleep();
  source.Complete();  // asked for before, so its event is under way
  EXPECT_TRUE(loop_->RunOnce());
  source.Notify();
  loop_->RunOnce();  // may see that something woke it
  EXPECT_FALSE(loop_->RunOnce());
  ASSERT_TRUE(loop_->PrepareSleep());
  source.Complete();
  Sleep();
  EXPECT_TRUE(loop_->RunOnce());
  EXPECT_EQ(source.work, 0);
  Remove(source);
}

TEST_F(EventLoopSourceTest, ASourceThatRefusesKeepsTheLoopAwakeAndAllDisarmed) {
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

TEST_F(EventLoopSourceTest, ASourceAddedDuringTheSleepWakesTheLoopAndIsNotDisarmed) {
  FakeSource source;
  ASSERT_TRUE(loop_->PrepareSleep());
  Add(source);
  Sleep();  // Disarm would fail the test
  source.Complete();
  EXPECT_TRUE(loop_->RunOnce());
  EXPECT_EQ(source.work, 0);
  Remove(source);
}

TEST_F(EventLoopSourceTest, ASourceRemovedDuringTheSleepIsDisarmed) {
  FakeSource source;
  Add(source);
  ASSERT_TRUE(loop_->PrepareSleep());
  Remove(source);
  EXPECT_FALSE(source.armed);
  loop_->Post([] {});
  Sleep();
  EXPECT_TRUE(loop_->RunOnce());
}

TEST_F(EventLoopSourceTest, ASourceMayRemoveItselfAndOthersWhileItIsPolled) {
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

TEST_F(EventLoopSourceTest, ASourceMayAddOthersWhileItIsPolled) {
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

TEST_F(EventLoopSourceTest, ATaskThatSlipsInLeavesNoSourceArmed) {
  FakeSource source;
  Add(source);
  loop_->Post([] {});
  EXPECT_FALSE(loop_->PrepareSleep());
  EXPECT_FALSE(source.armed);
  EXPECT_TRUE(loop_->RunOnce());
  Remove(source);
}

}  // namespace
}  // namespace farcall
