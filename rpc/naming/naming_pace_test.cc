// SPDX-License-Identifier: Apache-2.0

#include "rpc/naming/naming_pace.h"

#include <gtest/gtest.h>

#include <optional>

namespace farcall {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kStart{hours(1)};

class NamingPaceTest : public ::testing::Test {
 protected:
  // The look that is due begins and takes no time.
  void Succeed(NamingPace& pace, std::optional<Duration> lifetime = std::nullopt) {
    now_ = *pace.due();
    pace.OnStart(now_);
    pace.OnSuccess(now_, lifetime);
  }
  Duration Fail(NamingPace& pace) {
    now_ = *pace.due();
    pace.OnStart(now_);
    pace.OnFailure(now_);
    return Left(pace);
  }
  Duration Left(const NamingPace& pace) const { return *pace.due() - now_; }

  TimePoint now_ = kStart;
};

TEST_F(NamingPaceTest, TheFirstLookIsDueAtOnceAndTheNextAfterTheInterval) {
  NamingPace pace(seconds(5), seconds(0), kStart);
  EXPECT_EQ(pace.due(), kStart);
  pace.OnStart(kStart);
  EXPECT_EQ(pace.due(), std::nullopt) << "a look is under way";
  pace.OnSuccess(kStart + seconds(2), std::nullopt);
  EXPECT_EQ(pace.due(), kStart + seconds(7)) << "the interval begins when the look has ended";
}

TEST_F(NamingPaceTest, AnAnswerThatIsGoodForLessIsAskedForSooner) {
  NamingPace pace(seconds(30), seconds(1), kStart);
  Succeed(pace, seconds(10));
  EXPECT_EQ(Left(pace), seconds(10));
  Succeed(pace, seconds(0));
  EXPECT_EQ(Left(pace), seconds(1)) << "the floor";
  Succeed(pace, hours(24));
  EXPECT_EQ(Left(pace), seconds(30)) << "the interval";
  Succeed(pace, Duration::max());
  EXPECT_EQ(Left(pace), seconds(30));
}

TEST_F(NamingPaceTest, AnIntervalBelowTheFloorIsTheFloor) {
  NamingPace pace(milliseconds(10), seconds(1), kStart);
  Succeed(pace);
  EXPECT_EQ(Left(pace), seconds(1));
  EXPECT_EQ(Fail(pace), seconds(1));
  EXPECT_EQ(Fail(pace), seconds(1));
}

TEST_F(NamingPaceTest, FailuresInARowAreTriedAgainEverMoreSlowly) {
  NamingPace pace(hours(24), seconds(0), kStart);
  for (const int expected : {1, 2, 4, 8, 16, 30, 30}) EXPECT_EQ(Fail(pace), seconds(expected));
  Succeed(pace);
  EXPECT_EQ(Left(pace), hours(24));
  EXPECT_EQ(Fail(pace), seconds(1)) << "a success begins anew";
}

TEST_F(NamingPaceTest, AFailureIsTriedAgainWithinTheInterval) {
  NamingPace pace(seconds(3), seconds(0), kStart);
  for (const int expected : {1, 2, 3, 3}) EXPECT_EQ(Fail(pace), seconds(expected));
  NamingPace quick(milliseconds(10), seconds(0), kStart);
  EXPECT_EQ(Fail(quick), milliseconds(10));
}

TEST_F(NamingPaceTest, RefreshLooksAtOnceButOnceASecond) {
  NamingPace pace(seconds(60), seconds(1), kStart);
  Succeed(pace);
  pace.Refresh(now_ + milliseconds(200));
  EXPECT_EQ(Left(pace), seconds(1)) << "a second after the last began";
  Succeed(pace);
  EXPECT_EQ(Left(pace), seconds(60));
  pace.Refresh(now_ + seconds(20));
  EXPECT_EQ(Left(pace), seconds(20)) << "at once";
  pace.Refresh(now_ + seconds(21));
  EXPECT_EQ(Left(pace), seconds(20)) << "what is due is not put off";
}

TEST_F(NamingPaceTest, RefreshDoesNotPutOffWhatIsDueSooner) {
  NamingPace pace(milliseconds(10), seconds(0), kStart);
  Succeed(pace);
  pace.Refresh(now_);
  EXPECT_EQ(Left(pace), milliseconds(10));
}

TEST_F(NamingPaceTest, RefreshWhileALookIsUnderWayIsKept) {
  NamingPace pace(seconds(60), seconds(1), kStart);
  pace.OnStart(kStart);
  pace.Refresh(kStart + milliseconds(10));
  EXPECT_EQ(pace.due(), std::nullopt);
  pace.OnSuccess(kStart + milliseconds(100), std::nullopt);
  EXPECT_EQ(pace.due(), kStart + seconds(1));
  now_ = kStart + seconds(1);
  Succeed(pace);
  EXPECT_EQ(Left(pace), seconds(60)) << "and done once";
}

}  // namespace
}  // namespace farcall
