// SPDX-License-Identifier: Apache-2.0

#include "rpc/cluster/balance/circuit_breaker.h"

#include <gtest/gtest.h>

#include <chrono>

namespace farcall {
namespace {

using std::chrono::milliseconds;

CircuitBreakerOptions Options() {
  CircuitBreakerOptions options;
  options.enabled = true;
  options.error_rate = 0.5;
  options.window_calls = 20;
  options.first_pause_ms = 100;
  options.longest_pause_ms = 400;
  return options;
}

class CircuitBreakerTest : public testing::Test {
 protected:
  void Calls(int number, bool failed, Duration latency = milliseconds(1)) {
    for (int i = 0; i < number; ++i) breaker_.OnEnd(failed, latency, now_);
  }
  // Calls until the verdict, at most a thousand.
  int FailUntilVerdict() {
    int calls = 0;
    while (!breaker_.failing() && calls < 1000) {
      Calls(1, true);
      ++calls;
    }
    return calls;
  }
  // Its pause, and it is over.
  Duration OpenAndClose() {
    breaker_.Open(now_, random_);
    const Duration pause = breaker_.until() - now_;
    now_ = breaker_.until();
    breaker_.Close(now_);
    return pause;
  }

  CircuitBreakerOptions options_ = Options();
  TimePoint now_{std::chrono::seconds(1)};
  SplitMix random_{1};
  CircuitBreaker breaker_{options_};
};

TEST_F(CircuitBreakerTest, NoVerdictBeforeAWindow) {
  Calls(19, true);
  EXPECT_FALSE(breaker_.failing());
  EXPECT_EQ(breaker_.error_rate(), 1);
  Calls(1, true);
  EXPECT_TRUE(breaker_.failing());
}

TEST_F(CircuitBreakerTest, TheShareOfTheLastCallsDecides) {
  for (int i = 0; i < 1000; ++i) Calls(1, i % 5 < 2);
  EXPECT_FALSE(breaker_.failing());
  EXPECT_NEAR(breaker_.error_rate(), 0.4, 0.05);
  Calls(1000, false);
  // What is long ago counts no more, in either direction.
  EXPECT_LE(FailUntilVerdict(), 12);
  Calls(30, false);
  EXPECT_FALSE(breaker_.failing());
}

TEST_F(CircuitBreakerTest, AnErrorRateOfOneIsReachedThoughItWasWellOnce) {
  options_.error_rate = 1;
  Calls(1000, false);
  EXPECT_LE(FailUntilVerdict(), 22);
}

TEST_F(CircuitBreakerTest, ThePauseDoublesInARow) {
  for (const int pause : {100, 200, 400, 400}) {
    SCOPED_TRACE(pause);
    const Duration real = OpenAndClose();
    EXPECT_LE(real, milliseconds(pause));
    EXPECT_GE(real, milliseconds(pause) * 3 / 4);
    now_ += milliseconds(399);
  }
  now_ += milliseconds(1);
  EXPECT_LE(OpenAndClose(), milliseconds(100)) << "it was well for the longest pause";
}

TEST_F(CircuitBreakerTest, OnTrialAsManyFailuresAsMakeAWindowBadAreEnough) {
  Calls(20, true);
  OpenAndClose();
  EXPECT_FALSE(breaker_.failing());
  EXPECT_EQ(breaker_.error_rate(), 0);
  Calls(9, true);
  EXPECT_FALSE(breaker_.failing());
  Calls(1, true);
  EXPECT_TRUE(breaker_.failing());
}

TEST_F(CircuitBreakerTest, CallsFromBeforeTheVerdictDoNotCountAgain) {
  const TimePoint before = now_;
  Calls(20, true);
  breaker_.Open(now_, random_);
  Calls(20, false);
  EXPECT_EQ(breaker_.error_rate(), 1) << "it is open";
  now_ = breaker_.until();
  breaker_.Close(now_);
  for (int i = 0; i < 20; ++i) breaker_.OnEnd(true, now_ - before, before);
  EXPECT_EQ(breaker_.error_rate(), 0);
}

TEST_F(CircuitBreakerTest, LatencyIsComparedNowAndThenAndNotBeforeAWindow) {
  options_.latency_factor = 5;
  Calls(19, false, milliseconds(10));
  EXPECT_FALSE(breaker_.mean_latency());
  EXPECT_FALSE(breaker_.slow(1));
  Calls(1, false, milliseconds(10));
  EXPECT_TRUE(breaker_.slow(2e6));
  EXPECT_FALSE(breaker_.slow(2.1e6));
  int due = 0;
  for (int i = 0; i < 100; ++i) {
    Calls(1, false);
    due += breaker_.latency_is_due();
  }
  EXPECT_EQ(due, 20) << "once in a quarter of the window";
}

TEST_F(CircuitBreakerTest, WithoutAFactorLatencyIsNeverDue) {
  for (int i = 0; i < 100; ++i) {
    Calls(1, false, std::chrono::hours(1));
    EXPECT_FALSE(breaker_.latency_is_due());
  }
}

}  // namespace
}  // namespace farcall
