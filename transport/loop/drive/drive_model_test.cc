// SPDX-License-Identifier: Apache-2.0
//
// Every order in which a loop's thread, two callers and somebody from outside can take their steps:
// one drives at most, whoever needs a driver gets one without waiting for the time to pass, and no
// caller stays after its answer.

#include <gtest/gtest.h>

#include <array>

#include "transport/loop/drive/drive_model_testing.h"

namespace farcall {
namespace {

constexpr std::array<int, 2> kOneCaller = {2, 0};

void ExpectNothingWrong(const DriveScenario& scenario) {
  const DriveFindings found = ExploreDrive(scenario);
  EXPECT_EQ(found.violation, "");
  EXPECT_GT(found.states, 10'000u);
  EXPECT_GT(found.ends, 10u);
}

TEST(DriveModelTest, CallsInARowAndAHangUp) {
  ExpectNothingWrong({.calls = {3, 0}, .hang_up = true});
}

TEST(DriveModelTest, TwoCallers) { ExpectNothingWrong({.calls = {1, 1}}); }

TEST(DriveModelTest, CallsAndAPost) {
  ExpectNothingWrong({.calls = kOneCaller, .visits = {DriveVisit::kPost}});
}

TEST(DriveModelTest, CallsAndUserCode) {
  ExpectNothingWrong({.calls = kOneCaller, .visits = {DriveVisit::kQueueUserCode}});
}

TEST(DriveModelTest, CallsAndOneWithAClosure) {
  ExpectNothingWrong({.calls = kOneCaller, .visits = {DriveVisit::kCallWithClosure}});
}

TEST(DriveModelTest, CallsOfWhichOneIsCancelled) {
  ExpectNothingWrong({.calls = kOneCaller, .visits = {DriveVisit::kCancel}});
}

TEST(DriveModelTest, MistakesInTheStepsAreFound) {
  const auto found_with = [](DriveMistake mistake, DriveVisit visit) {
    return ExploreDrive({.calls = kOneCaller, .visits = {visit}, .mistake = mistake}).violation;
  };
  EXPECT_NE(found_with(DriveMistake::kNoSecondLook, DriveVisit::kPost), "");
  EXPECT_NE(found_with(DriveMistake::kNoForget, DriveVisit::kPost), "");
  EXPECT_NE(found_with(DriveMistake::kNoWant, DriveVisit::kPost), "");
  EXPECT_NE(found_with(DriveMistake::kSleepsThoughDone, DriveVisit::kCancel), "");
  EXPECT_NE(found_with(DriveMistake::kLeavesWithDrive, DriveVisit::kCancel), "");
  EXPECT_NE(found_with(DriveMistake::kLooksTooLate, DriveVisit::kCancel), "");
  const auto found_between_two = [](DriveMistake mistake) {
    return ExploreDrive({.calls = {1, 1}, .mistake = mistake}).violation;
  };
  EXPECT_NE(found_between_two(DriveMistake::kLeavesOutput), "");
  EXPECT_NE(found_between_two(DriveMistake::kSleepsOnOutput), "");
}

}  // namespace
}  // namespace farcall
