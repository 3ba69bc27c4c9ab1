// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/client/connect_gate.h"

#include <gtest/gtest.h>

#include <vector>

namespace farcall {
namespace {

using std::chrono::milliseconds;

TimePoint At(int64_t ms) { return TimePoint(milliseconds(ms)); }

const absl::Status& Refused() {
  static const absl::Status refused = absl::UnavailableError("connection refused");
  return refused;
}

TEST(ConnectGateTest, WhileNothingFailedAllMayConnectAtOnce) {
  ConnectGate gate;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(gate.MayTry(At(0)).ok());
    EXPECT_FALSE(gate.MustAwait());
    gate.OnEnd(gate.Begin(), At(0), absl::OkStatus());
    gate.Begin();
  }
}

TEST(ConnectGateTest, AFailureIsAPauseForAll) {
  ConnectGate gate;
  gate.OnEnd(gate.Begin(), At(0), Refused());
  EXPECT_EQ(gate.MayTry(At(4)), Refused());
  EXPECT_TRUE(gate.MayTry(At(5)).ok());
  gate.OnEnd(gate.Begin(), At(5), Refused());
  EXPECT_FALSE(gate.MayTry(At(14)).ok());
  EXPECT_TRUE(gate.MayTry(At(15)).ok());
}

TEST(ConnectGateTest, PausesDoubleUpToTheLongestAndASuccessBeginsAnew) {
  ConnectGate gate;
  TimePoint now = At(0);
  const auto fail = [&](const absl::Status& why, int pause_ms) {
    gate.OnEnd(gate.Begin(), now, why);
    EXPECT_EQ(gate.MayTry(now + milliseconds(pause_ms) - Duration(1)), why) << pause_ms;
    EXPECT_TRUE(gate.MayTry(now += milliseconds(pause_ms)).ok()) << pause_ms;
  };
  for (const int pause : {5, 10, 20, 40, 80, 160, 200, 200, 200}) fail(Refused(), pause);
  fail(absl::DeadlineExceededError("no answer within 200ms"), 200);
  gate.OnEnd(gate.Begin(), now, absl::OkStatus());
  EXPECT_TRUE(gate.MayTry(now).ok());
  fail(Refused(), 5);
}

TEST(ConnectGateTest, FailuresOfAttemptsThatBeganTogetherCountOnce) {
  ConnectGate gate;
  std::vector<uint64_t> attempts;
  for (int i = 0; i < 100; ++i) attempts.push_back(gate.Begin());
  for (const uint64_t attempt : attempts) gate.OnEnd(attempt, At(0), Refused());
  EXPECT_TRUE(gate.MayTry(At(0) + ConnectGate::kFirstPause).ok());
}

TEST(ConnectGateTest, AfterAFailureOneConnectsAndTheOthersLearnHowThatWent) {
  ConnectGate gate;
  gate.OnEnd(gate.Begin(), At(0), Refused());
  EXPECT_FALSE(gate.MustAwait()) << "no attempt is under way";
  const uint64_t attempt = gate.Begin();
  EXPECT_TRUE(gate.MustAwait());
  std::vector<absl::Status> results;
  for (int i = 0; i < 2; ++i) {
    gate.Await([&](const absl::Status& how) { results.push_back(how); });
  }
  gate.OnEnd(attempt, At(5), Refused());
  EXPECT_TRUE(results.empty());
  gate.Wake(Refused());
  EXPECT_EQ(results, std::vector<absl::Status>(2, Refused()));
  gate.Wake(Refused());
  EXPECT_EQ(results.size(), 2u) << "each once";
}

TEST(ConnectGateTest, SuccessLetsAllConnect) {
  ConnectGate gate;
  gate.OnEnd(gate.Begin(), At(0), Refused());
  const uint64_t attempt = gate.Begin();
  int connected = 0;
  for (int i = 0; i < 3; ++i) {
    gate.Await([&](const absl::Status& how) {
      EXPECT_TRUE(how.ok());
      EXPECT_FALSE(gate.MustAwait()) << "not one after the other any more";
      gate.Begin();
      ++connected;
    });
  }
  gate.OnEnd(attempt, At(5), absl::OkStatus());
  gate.Wake(absl::OkStatus());
  EXPECT_EQ(connected, 3);
  EXPECT_TRUE(gate.MayTry(At(5)).ok());
}

TEST(ConnectGateTest, WhoIsToldMayWaitAgain) {
  ConnectGate gate;
  gate.OnEnd(gate.Begin(), At(0), Refused());
  uint64_t attempt = gate.Begin();
  int results = 0;
  gate.Await([&](const absl::Status&) {
    ++results;
    attempt = gate.Begin();
    gate.Await([&](const absl::Status&) { ++results; });
  });
  gate.OnEnd(attempt, At(5), Refused());
  gate.Wake(Refused());
  EXPECT_EQ(results, 1);
  gate.OnEnd(attempt, At(15), Refused());
  gate.Wake(Refused());
  EXPECT_EQ(results, 2);
}

TEST(ConnectGateTest, NoCallWaitsForAnAttemptFromBeforeTheFailure) {
  ConnectGate gate;
  const uint64_t first = gate.Begin();
  const uint64_t old = gate.Begin();
  EXPECT_TRUE(gate.OnEnd(first, At(0), Refused()));
  EXPECT_FALSE(gate.MustAwait());
  EXPECT_FALSE(gate.MayTry(At(4)).ok());
  const uint64_t fresh = gate.Begin();
  EXPECT_TRUE(gate.MustAwait());
  EXPECT_TRUE(gate.MayTry(At(4)).ok()) << "it may wait";
  EXPECT_FALSE(gate.OnEnd(old, At(6), Refused())) << "it says nothing of now";
  EXPECT_TRUE(gate.MustAwait());
  EXPECT_TRUE(gate.OnEnd(fresh, At(7), Refused()));
  EXPECT_FALSE(gate.MayTry(At(16)).ok()) << "the second failure in the row";
  EXPECT_TRUE(gate.MayTry(At(17)).ok());
}

TEST(ConnectGateTest, AnAttemptFromBeforeASuccessFailsForItselfOnly) {
  ConnectGate gate;
  const uint64_t old = gate.Begin();
  EXPECT_TRUE(gate.OnEnd(gate.Begin(), At(0), absl::OkStatus()));
  EXPECT_FALSE(gate.OnEnd(old, At(200), Refused()));
  EXPECT_TRUE(gate.MayTry(At(200)).ok());
}

TEST(ConnectGateTest, AnyAttemptThatSucceedsLetsAllConnect) {
  ConnectGate gate;
  const uint64_t old = gate.Begin();
  gate.OnEnd(gate.Begin(), At(0), Refused());
  gate.Begin();
  EXPECT_TRUE(gate.MustAwait());
  EXPECT_TRUE(gate.OnEnd(old, At(5), absl::OkStatus()));
  EXPECT_FALSE(gate.MustAwait());
}

}  // namespace
}  // namespace farcall
