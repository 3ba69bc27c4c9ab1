// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/drive/polling.h"

#include <gtest/gtest.h>

namespace farcall {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using Decision = AdaptiveSpin::Decision;

constexpr Duration kSpin = microseconds(50);
constexpr Duration kTwoWakeUps = microseconds(100);
constexpr TimePoint kStart{std::chrono::hours(1)};

PollingOptions Options(PollingMode mode) {
  PollingOptions options;
  options.mode = mode;
  options.spin = kSpin;
  return options;
}

TEST(PollingOptionsTest, TheDefaultIsValid) {
  EXPECT_TRUE(PollingOptions().Validate().ok());
  EXPECT_EQ(PollingOptions().mode, PollingMode::kAdaptive);
}

TEST(PollingOptionsTest, SpinHasBounds) {
  PollingOptions options;
  for (const Duration good : {Duration(microseconds(1)), Duration(milliseconds(10))}) {
    options.spin = good;
    EXPECT_TRUE(options.Validate().ok()) << good.count();
  }
  for (const Duration bad : {Duration(-1), Duration(0), Duration(nanoseconds(999)),
                             Duration(milliseconds(10)) + nanoseconds(1)}) {
    options.spin = bad;
    EXPECT_EQ(options.Validate().code(), absl::StatusCode::kInvalidArgument) << bad.count();
  }
}

// A loop's life in virtual time.
class Spinner {
 public:
  explicit Spinner(PollingMode mode = PollingMode::kAdaptive) : spin_(Options(mode)) { Work(); }

  // Work comes at once, without a poll in vain.
  void Work(Duration takes = Duration(0)) {
    const TimePoint found = now_;
    now_ += takes;
    spin_.OnWork(found, now_);
  }
  // The loop finds nothing, and `gap` after its last work there is some.
  void WorkAfter(Duration gap, Duration takes = Duration(0)) {
    spin_.OnIdle(now_ + nanoseconds(1));
    now_ += gap;
    Work(takes);
  }
  // No thread looks for work for that long.
  void BeginAfter(Duration gap) { spin_.Begin(now_ += gap); }
  // What it decides that long after its last work.
  Decision IdleAfter(Duration since) { return spin_.OnIdle(now_ + since); }
  void Yielded(Duration took) { spin_.OnYielded(took); }
  // Whether a loop that finds nothing looks again; leaves it idle.
  bool spins() { return IdleAfter(nanoseconds(1)) != Decision::kSleep; }
  void Fall() {
    for (int i = 0; i < 20; ++i) WorkAfter(hours(1));
  }

 private:
  AdaptiveSpin spin_;
  TimePoint now_ = kStart;
};

TEST(AdaptiveSpinTest, EventModeSleepsAtOnceAlways) {
  Spinner spinner(PollingMode::kEvent);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(spinner.IdleAfter(Duration(0)), Decision::kSleep);
    spinner.WorkAfter(microseconds(1));
  }
}

TEST(AdaptiveSpinTest, BusyModeNeverSleeps) {
  Spinner spinner(PollingMode::kBusy);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(spinner.IdleAfter(Duration(0)), Decision::kPoll);
    EXPECT_EQ(spinner.IdleAfter(hours(1)), Decision::kPoll);
    spinner.WorkAfter(hours(1));
  }
}

TEST(AdaptiveSpinTest, BusyModeGivesWayNowAndThen) {
  Spinner spinner(PollingMode::kBusy);
  for (int round = 0; round < 3; ++round) {
    for (int i = 1; i < 64; ++i) ASSERT_EQ(spinner.IdleAfter(hours(1)), Decision::kPoll) << i;
    EXPECT_EQ(spinner.IdleAfter(hours(1)), Decision::kYield);
    spinner.Yielded(milliseconds(5));
  }
}

TEST(AdaptiveSpinTest, GivesWayOnEveryFourthPoll) {
  Spinner spinner;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(spinner.IdleAfter(microseconds(1)), Decision::kPoll);
    EXPECT_EQ(spinner.IdleAfter(microseconds(1)), Decision::kYield);
    spinner.Yielded(microseconds(1));
  }
  // Work begins the count anew.
  EXPECT_EQ(spinner.IdleAfter(microseconds(1)), Decision::kPoll);
  spinner.Work();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(spinner.IdleAfter(microseconds(1)), Decision::kPoll);
  EXPECT_EQ(spinner.IdleAfter(microseconds(1)), Decision::kYield);
}

TEST(AdaptiveSpinTest, TimeInWhichNobodyLookedIsNoGap) {
  Spinner spinner;
  for (int i = 0; i < 20; ++i) {
    spinner.BeginAfter(hours(1));
    EXPECT_TRUE(spinner.spins());
    spinner.WorkAfter(microseconds(10));
  }
  for (int i = 0; i < 20; ++i) {
    spinner.BeginAfter(hours(1));
    spinner.WorkAfter(milliseconds(1));
  }
  spinner.BeginAfter(Duration(0));
  EXPECT_FALSE(spinner.spins()) << "what it waited for itself counts";
}

TEST(AdaptiveSpinTest, SleepsWhenTheSpinIsOver) {
  Spinner spinner;
  EXPECT_EQ(spinner.IdleAfter(kSpin), Decision::kPoll);
  EXPECT_EQ(spinner.IdleAfter(kSpin + nanoseconds(1)), Decision::kSleep);
}

TEST(AdaptiveSpinTest, SleepsAtOnceBeforeTheFirstWork) {
  AdaptiveSpin spin(Options(PollingMode::kAdaptive));
  EXPECT_EQ(spin.OnIdle(kStart), Decision::kSleep);
}

TEST(AdaptiveSpinTest, AFewLongGapsInARowEndTheSpinning) {
  Spinner spinner;
  for (int i = 0; i < 4; ++i) {
    spinner.WorkAfter(kSpin + nanoseconds(1));
    EXPECT_TRUE(spinner.spins()) << i;
  }
  spinner.WorkAfter(kSpin + nanoseconds(1));
  EXPECT_FALSE(spinner.spins());
}

TEST(AdaptiveSpinTest, ALongGapNowAndThenDoesNotEndTheSpinning) {
  Spinner spinner;
  for (int i = 0; i < 100; ++i) {
    spinner.WorkAfter(i % 2 == 0 ? Duration(hours(1)) : kSpin);
    EXPECT_TRUE(spinner.spins()) << i;
  }
}

TEST(AdaptiveSpinTest, WorkWithoutAGapCountsForNothing) {
  Spinner spinner;
  for (int i = 0; i < 4; ++i) spinner.WorkAfter(hours(1));
  for (int i = 0; i < 20; ++i) spinner.Work();
  spinner.WorkAfter(hours(1));
  EXPECT_FALSE(spinner.spins());
}

TEST(AdaptiveSpinTest, TheWorkItselfIsNoGap) {
  Spinner spinner;
  for (int i = 0; i < 100; ++i) {
    spinner.WorkAfter(microseconds(5), milliseconds(1));
    EXPECT_TRUE(spinner.spins()) << i;
  }
}

TEST(AdaptiveSpinTest, ACoreThatOthersWantCountsAgainstSpinning) {
  Spinner spinner;
  for (int i = 0; i < 20; ++i) spinner.Yielded(microseconds(10));
  EXPECT_TRUE(spinner.spins());
  for (int i = 0; i < 4; ++i) spinner.Yielded(microseconds(11));
  EXPECT_TRUE(spinner.spins());
  spinner.Yielded(microseconds(11));
  EXPECT_FALSE(spinner.spins());
}

TEST(AdaptiveSpinTest, TriesAgainAfterFourGapsThatWereShortButForWakingUp) {
  Spinner spinner;
  spinner.Fall();
  for (int i = 0; i < 3; ++i) {
    spinner.WorkAfter(kSpin + kTwoWakeUps);
    EXPECT_FALSE(spinner.spins()) << i;
  }
  spinner.WorkAfter(kSpin + kTwoWakeUps);
  EXPECT_TRUE(spinner.spins());
}

TEST(AdaptiveSpinTest, LongerGapsDoNotBringTheSpinningBack) {
  Spinner spinner;
  spinner.Fall();
  for (int i = 0; i < 100; ++i) {
    spinner.WorkAfter(kSpin + kTwoWakeUps + nanoseconds(1));
    EXPECT_FALSE(spinner.spins()) << i;
  }
}

TEST(AdaptiveSpinTest, ATryThatDoesNotPayIsGivenUpForAWhile) {
  Spinner spinner;
  spinner.Fall();
  // Gaps that never come within the spin, but would be tried for.
  const Duration gap = kSpin + kTwoWakeUps;
  int spun = 0;
  for (int i = 0; i < 70; ++i) {
    spinner.WorkAfter(gap);
    spun += spinner.spins() ? 1 : 0;
  }
  EXPECT_EQ(spun, 70 / 5);
}

TEST(AdaptiveSpinTest, ATryThatPaysStays) {
  Spinner spinner;
  spinner.Fall();
  for (int i = 0; i < 4; ++i) spinner.WorkAfter(kTwoWakeUps);
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(spinner.spins()) << i;
    spinner.WorkAfter(kSpin);
  }
}

// Two loops that answer each other, as a closed-loop client and its server do.
class Peer {
 public:
  explicit Peer(Duration wake_up) : spin_(Options(PollingMode::kAdaptive)), wake_up_(wake_up) {}

  // A message is there at `arrival`; returns when the answer is with the other side.
  TimePoint Answer(TimePoint arrival) {
    slept_ = false;
    for (TimePoint t = done_; t < arrival && !slept_; t += microseconds(1)) {
      slept_ = spin_.OnIdle(t) == Decision::kSleep;
    }
    const TimePoint found = slept_ ? arrival + wake_up_ : arrival;
    done_ = found + microseconds(3);
    spin_.OnWork(found, done_);
    return done_ + microseconds(1);
  }
  bool slept() const { return slept_; }

 private:
  AdaptiveSpin spin_;
  const Duration wake_up_;
  TimePoint done_ = kStart;
  bool slept_ = false;
};

class AdaptiveSpinPairTest : public testing::TestWithParam<int> {};

TEST_P(AdaptiveSpinPairTest, TwoThatSleptFindBackToSpinning) {
  for (const int prelude : {0, 1, 2, 3, 5, 8}) {
    Peer client{microseconds(GetParam())};
    Peer server{microseconds(GetParam())};
    TimePoint at = kStart;
    // Calls that come far apart teach both to sleep at once.
    for (int i = 0; i < 20; ++i) at = client.Answer(server.Answer(at + milliseconds(5)));
    // The server has seen some traffic of others, so the two are not in step.
    for (int i = 0; i < prelude; ++i) at = server.Answer(at + microseconds(30));
    EXPECT_TRUE(client.slept());
    int slept = 0;
    for (int i = 0; i < 100; ++i) {
      at = client.Answer(server.Answer(at));
      if (i >= 20) slept += (client.slept() ? 1 : 0) + (server.slept() ? 1 : 0);
    }
    EXPECT_EQ(slept, 0) << prelude;
  }
}

INSTANTIATE_TEST_SUITE_P(WakeUpMicroseconds, AdaptiveSpinPairTest,
                         testing::Values(1, 5, 20, 30, 40));

}  // namespace
}  // namespace farcall
