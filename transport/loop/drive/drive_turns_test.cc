// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/drive/drive_turns.h"

#include <gtest/gtest.h>

#include <chrono>

namespace farcall {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr TimePoint kStart{std::chrono::hours(1)};
constexpr Duration kRest = DriveTurns::kRest;

class DriveTurnsTest : public testing::Test {
 protected:
  // The thread has given the drive to `first`, who has come right after another call.
  void LetDrive(LoopVisitor& first) {
    EXPECT_FALSE(turns_.Arrive(first, kStart));
    EXPECT_TRUE(turns_.ThreadMayGive(kStart));
    const auto notice = turns_.ThreadGives(kStart);
    ASSERT_TRUE(notice);
    EXPECT_EQ(notice->visitor, &first);
    EXPECT_FALSE(notice->thread);
  }
  // Whom Notice names, as a character.
  char Whom(const DriveTurns::Notice& notice) {
    EXPECT_FALSE(notice.thread && notice.visitor != nullptr);
    if (notice.thread) return 't';
    return notice.visitor == nullptr ? '-' : *reinterpret_cast<const char*>(notice.visitor);
  }

  // Visitors are never looked into, only their addresses count: that of a character is one.
  static LoopVisitor& Named(char& name) { return reinterpret_cast<LoopVisitor&>(name); }

  DriveTurns turns_;
  char names_[3] = {'a', 'b', 'c'};
  LoopVisitor& a_ = Named(names_[0]);
  LoopVisitor& b_ = Named(names_[1]);
  LoopVisitor& c_ = Named(names_[2]);
};

TEST_F(DriveTurnsTest, ASingleCallLeavesTheDriveToTheThread) {
  EXPECT_FALSE(turns_.Arrive(a_, kStart));
  turns_.Forget(a_);
  EXPECT_FALSE(turns_.ThreadMayGive(kStart));
  EXPECT_FALSE(turns_.ThreadGives(kStart));
}

TEST_F(DriveTurnsTest, TheSecondCallInARowFindsTheDriveFreeNext) {
  EXPECT_FALSE(turns_.Arrive(a_, kStart));
  turns_.Forget(a_);
  EXPECT_FALSE(turns_.Arrive(a_, kStart + kRest));
  turns_.Forget(a_);
  EXPECT_TRUE(turns_.ThreadMayGive(kStart + kRest));
  const auto notice = turns_.ThreadGives(kStart + kRest);
  ASSERT_TRUE(notice);
  EXPECT_EQ(Whom(*notice), '-');
  EXPECT_TRUE(turns_.Arrive(a_, kStart + kRest + microseconds(5)));
}

TEST_F(DriveTurnsTest, CallsThatComeSeldomDoNot) {
  for (int i = 0; i < 5; ++i) {
    const TimePoint now = kStart + i * (kRest + microseconds(1));
    EXPECT_FALSE(turns_.Arrive(a_, now));
    turns_.Forget(a_);
    EXPECT_FALSE(turns_.ThreadMayGive(now));
  }
}

TEST_F(DriveTurnsTest, WhoeverCameLastIsNextUnlessOneSpins) {
  LetDrive(a_);
  EXPECT_FALSE(turns_.Arrive(b_, kStart));
  EXPECT_FALSE(turns_.Arrive(c_, kStart));
  turns_.SetSpins(b_, true);
  EXPECT_EQ(Whom(turns_.Leave(true, kStart)), 'b');
  EXPECT_FALSE(turns_.Arrive(a_, kStart));
  EXPECT_EQ(Whom(turns_.Leave(true, kStart)), 'a');
  EXPECT_EQ(Whom(turns_.Leave(true, kStart)), 'c');
  EXPECT_EQ(Whom(turns_.Leave(true, kStart)), '-');
}

TEST_F(DriveTurnsTest, WhoHasGivenUpSpinningWaitsAsTheOthersDo) {
  LetDrive(a_);
  EXPECT_FALSE(turns_.Arrive(b_, kStart));
  turns_.SetSpins(b_, true);
  EXPECT_FALSE(turns_.Arrive(c_, kStart));
  turns_.SetSpins(b_, false);
  EXPECT_EQ(Whom(turns_.Leave(true, kStart)), 'c');
}

TEST_F(DriveTurnsTest, WhoseCallHasEndedIsNotTold) {
  LetDrive(a_);
  EXPECT_FALSE(turns_.Arrive(b_, kStart));
  turns_.SetSpins(b_, true);
  EXPECT_FALSE(turns_.Arrive(c_, kStart));
  turns_.Forget(b_);
  EXPECT_TRUE(turns_.AnyNext());
  turns_.Forget(c_);
  EXPECT_FALSE(turns_.AnyNext());
  EXPECT_EQ(Whom(turns_.Leave(true, kStart)), '-');
}

TEST_F(DriveTurnsTest, WorkOfOthersGoesToTheThread) {
  LetDrive(a_);
  EXPECT_EQ(Whom(turns_.GiveToThread(a_)), 't');
  EXPECT_FALSE(turns_.ThreadLooks(kStart));
  const auto notice = turns_.ThreadGives(kStart);
  ASSERT_TRUE(notice);
  EXPECT_EQ(Whom(*notice), 'a');
  // Left behind by one whose call has ended.
  EXPECT_EQ(Whom(turns_.Leave(/*rest=*/false, kStart)), 't');
  EXPECT_FALSE(turns_.ThreadLooks(kStart));
}

TEST_F(DriveTurnsTest, NobodyDrivesForALimitedTime) {
  LetDrive(a_);
  EXPECT_EQ(turns_.ThreadLooks(kStart), kStart + kRest);
  const TimePoint left = kStart + microseconds(300);
  EXPECT_EQ(Whom(turns_.Leave(true, left)), '-');
  EXPECT_EQ(turns_.ThreadLooks(kStart + kRest), left + kRest);
  EXPECT_EQ(turns_.ThreadLooks(left + kRest - microseconds(1)), left + kRest);
  EXPECT_FALSE(turns_.ThreadLooks(left + kRest));
  EXPECT_FALSE(turns_.Arrive(b_, left + kRest)) << "the thread drives again";
}

TEST_F(DriveTurnsTest, ThreadsStayParkedWhileCallsComeInARow) {
  LetDrive(a_);
  TimePoint now = kStart;
  for (int i = 0; i < 100; ++i) {
    now += kRest / 2;
    EXPECT_EQ(Whom(turns_.Leave(true, now)), '-');
    EXPECT_TRUE(turns_.ThreadLooks(now));
    now += kRest / 2;
    EXPECT_TRUE(turns_.Arrive(b_, now));
    EXPECT_EQ(turns_.ThreadLooks(now), now + kRest);
  }
}

TEST_F(DriveTurnsTest, WhoDrivesForLongTellsTheThreadWhenItLeaves) {
  LetDrive(a_);
  EXPECT_EQ(turns_.ThreadLooks(kStart + kRest), TimePoint::max());
  const TimePoint left = kStart + milliseconds(500);
  EXPECT_EQ(Whom(turns_.Leave(true, left)), 't');
  EXPECT_EQ(turns_.ThreadLooks(left), left + kRest);
  EXPECT_TRUE(turns_.Arrive(b_, left));
  EXPECT_EQ(Whom(turns_.Leave(true, left)), '-') << "it has a time now";
}

TEST_F(DriveTurnsTest, WhoBringsWorkWhereNobodyDrivesGetsTheThread) {
  LetDrive(a_);
  EXPECT_EQ(Whom(turns_.Leave(true, kStart)), '-');
  EXPECT_EQ(Whom(turns_.ThreadWanted()), 't');
  EXPECT_FALSE(turns_.Arrive(b_, kStart)) << "it is on its way";
  EXPECT_FALSE(turns_.ThreadLooks(kStart));
}

TEST_F(DriveTurnsTest, WantedWhileAVisitorDrivesTheThreadIsNext) {
  LetDrive(a_);
  EXPECT_FALSE(turns_.Arrive(b_, kStart));
  EXPECT_EQ(Whom(turns_.ThreadWanted()), '-');
  EXPECT_TRUE(turns_.thread_wanted());
  EXPECT_EQ(Whom(turns_.Leave(true, kStart)), 't');
  EXPECT_FALSE(turns_.thread_wanted());
}

TEST_F(DriveTurnsTest, WantedWhileItIsAboutToGiveTheThreadKeepsTheDrive) {
  EXPECT_FALSE(turns_.Arrive(a_, kStart));
  EXPECT_EQ(Whom(turns_.ThreadWanted()), '-');
  EXPECT_FALSE(turns_.ThreadGives(kStart));
  EXPECT_TRUE(turns_.ThreadGives(kStart)) << "once";
}

}  // namespace
}  // namespace farcall
