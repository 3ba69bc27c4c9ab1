// SPDX-License-Identifier: Apache-2.0

#include "rpc/cluster/balance/health.h"

#include <gtest/gtest.h>

#include <chrono>

namespace farcall {
namespace {

using std::chrono::milliseconds;
using Change = Health::Change;

constexpr Duration kFirst = milliseconds(100);
constexpr Duration kLongest = milliseconds(1000);

class HealthTest : public testing::Test {
 protected:
  Change Fall() { return health_.OnUnreachable(now_, random_); }
  Change Probe(bool ok) {
    EXPECT_TRUE(health_.TakeProbe(now_));
    return health_.OnProbe(ok, now_, random_);
  }
  // The next probe comes so much later that it is a pause of `whole`, cut by at most a quarter.
  void ExpectPause(Duration whole) {
    ASSERT_TRUE(health_.next_probe());
    EXPECT_LE(*health_.next_probe(), now_ + whole);
    EXPECT_GE(*health_.next_probe(), now_ + whole * 3 / 4);
  }
  // To the next probe, and that one fails.
  void FailProbe() {
    now_ = *health_.next_probe();
    EXPECT_FALSE(health_.TakeProbe(now_ - Duration(1)));
    EXPECT_EQ(Probe(false), Change::kNone);
  }

  TimePoint now_{std::chrono::seconds(1)};
  SplitMix random_{1};
  Health health_{kFirst, kLongest};
};

TEST_F(HealthTest, ItIsUpAtFirstAndNotProbed) {
  EXPECT_TRUE(health_.up());
  EXPECT_EQ(health_.next_probe(), std::nullopt);
  EXPECT_FALSE(health_.TakeProbe(now_));
  EXPECT_EQ(health_.OnProbe(false, now_, random_), Change::kNone);
  EXPECT_EQ(health_.OnProbe(true, now_, random_), Change::kNone);
  EXPECT_TRUE(health_.up());
}

TEST_F(HealthTest, TheFirstProbeIsDueAtOnceAndThePausesDouble) {
  EXPECT_EQ(Fall(), Change::kFell);
  EXPECT_EQ(health_.next_probe(), now_);
  FailProbe();
  for (const int pause : {100, 200, 400, 800, 1000, 1000}) {
    SCOPED_TRACE(pause);
    ExpectPause(milliseconds(pause));
    FailProbe();
  }
}

TEST_F(HealthTest, AProbeIsGivenOnceUntilItsResult) {
  Fall();
  EXPECT_TRUE(health_.TakeProbe(now_));
  EXPECT_EQ(health_.next_probe(), std::nullopt);
  EXPECT_FALSE(health_.TakeProbe(now_ + std::chrono::hours(1)));
}

TEST_F(HealthTest, ABrokenConnectionIsOverWithTheFirstProbe) {
  Fall();
  now_ += milliseconds(5);
  EXPECT_EQ(Probe(true), Change::kBackSoon);
  EXPECT_TRUE(health_.up());
}

TEST_F(HealthTest, AServerThatWasAwayIsBack) {
  Fall();
  FailProbe();
  now_ = *health_.next_probe() + kFirst;
  EXPECT_EQ(Probe(true), Change::kBack);
}

TEST_F(HealthTest, MoreReportsWhileItIsDownMoveNothing) {
  Fall();
  FailProbe();
  const auto next = health_.next_probe();
  now_ += milliseconds(1);
  EXPECT_EQ(health_.OnUnreachable(now_, random_), Change::kNone);
  EXPECT_EQ(health_.OnLeaving(now_, random_), Change::kNone);
  EXPECT_EQ(health_.next_probe(), next);
}

TEST_F(HealthTest, OneThatFallsAgainSoonIsProbedWithGrowingPauses) {
  Fall();
  now_ += milliseconds(1);
  EXPECT_EQ(Probe(true), Change::kBackSoon);
  for (const int pause : {100, 200, 400, 800, 1000}) {
    SCOPED_TRACE(pause);
    now_ += milliseconds(10);
    EXPECT_EQ(Fall(), Change::kFell);
    ExpectPause(milliseconds(pause));
    now_ = *health_.next_probe();
    EXPECT_EQ(Probe(true), Change::kBack) << "a server that flaps is not back in full";
  }
  // Up for twice its last pause: it is well.
  now_ += 2 * kLongest;
  Fall();
  EXPECT_EQ(health_.next_probe(), now_);
}

TEST_F(HealthTest, OneThatLeavesIsNotProbedAtOnce) {
  EXPECT_EQ(health_.OnLeaving(now_, random_), Change::kFell);
  ExpectPause(kFirst);
  now_ = *health_.next_probe();
  EXPECT_EQ(Probe(true), Change::kBack) << "another process, most likely";
}

TEST_F(HealthTest, AnAnswerBringsItBackUnlessTheCallIsOlderThanTheFall) {
  Fall();
  now_ += milliseconds(300);
  EXPECT_EQ(health_.OnAnswer(now_ - milliseconds(301), now_), Change::kNone);
  EXPECT_EQ(health_.OnAnswer(now_ - milliseconds(300), now_), Change::kNone);
  EXPECT_FALSE(health_.up());
  EXPECT_EQ(health_.OnAnswer(now_ - milliseconds(299), now_), Change::kBack);
  EXPECT_TRUE(health_.up());
  EXPECT_EQ(health_.OnAnswer(now_, now_), Change::kNone);
}

TEST_F(HealthTest, AConnectionThatNobodyAskedForBringsItBack) {
  Fall();
  FailProbe();
  EXPECT_EQ(health_.OnProbe(false, now_, random_), Change::kNone);
  ExpectPause(kFirst);
  EXPECT_EQ(health_.OnProbe(true, now_, random_), Change::kBackSoon);
}

TEST_F(HealthTest, AProbeThatIsOutWhenItComesBackCountsForTheNextFall) {
  Fall();
  EXPECT_TRUE(health_.TakeProbe(now_));
  EXPECT_EQ(health_.OnAnswer(now_ + milliseconds(1), now_ + milliseconds(2)), Change::kBackSoon);
  now_ += std::chrono::seconds(10);
  Fall();
  EXPECT_EQ(health_.next_probe(), std::nullopt) << "one is out still";
  EXPECT_EQ(health_.OnProbe(false, now_, random_), Change::kNone);
  ExpectPause(kFirst);
}

}  // namespace
}  // namespace farcall
