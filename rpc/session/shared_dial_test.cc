// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/shared_dial.h"

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

TEST(SharedDialTest, WhileNothingFailedAllMayDialAtOnce) {
  SharedDial dial;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(dial.MayTry(At(0)).ok());
    EXPECT_FALSE(dial.MustAwait());
    dial.OnEnd(dial.Begin(), At(0), absl::OkStatus());
    dial.Begin();
  }
}

TEST(SharedDialTest, AFailureIsAPauseForAll) {
  SharedDial dial;
  dial.OnEnd(dial.Begin(), At(0), Refused());
  EXPECT_EQ(dial.MayTry(At(4)), Refused());
  EXPECT_TRUE(dial.MayTry(At(5)).ok());
  dial.OnEnd(dial.Begin(), At(5), Refused());
  EXPECT_FALSE(dial.MayTry(At(14)).ok());
  EXPECT_TRUE(dial.MayTry(At(15)).ok());
}

TEST(SharedDialTest, FailuresOfAttemptsThatBeganTogetherCountOnce) {
  SharedDial dial;
  std::vector<uint64_t> attempts;
  for (int i = 0; i < 100; ++i) attempts.push_back(dial.Begin());
  for (const uint64_t attempt : attempts) dial.OnEnd(attempt, At(0), Refused());
  EXPECT_TRUE(dial.MayTry(At(0) + Reconnect::kFirstPause).ok());
}

TEST(SharedDialTest, AfterAFailureOneDialsAndTheOthersLearnHowThatWent) {
  SharedDial dial;
  dial.OnEnd(dial.Begin(), At(0), Refused());
  EXPECT_FALSE(dial.MustAwait()) << "nobody dials";
  const uint64_t attempt = dial.Begin();
  EXPECT_TRUE(dial.MustAwait());
  std::vector<absl::Status> told;
  for (int i = 0; i < 2; ++i) {
    dial.Await([&](const absl::Status& how) { told.push_back(how); });
  }
  dial.OnEnd(attempt, At(5), Refused());
  EXPECT_TRUE(told.empty());
  dial.Wake(Refused());
  EXPECT_EQ(told, std::vector<absl::Status>(2, Refused()));
  dial.Wake(Refused());
  EXPECT_EQ(told.size(), 2u) << "each once";
}

TEST(SharedDialTest, SuccessLetsAllDial) {
  SharedDial dial;
  dial.OnEnd(dial.Begin(), At(0), Refused());
  const uint64_t attempt = dial.Begin();
  int dialled = 0;
  for (int i = 0; i < 3; ++i) {
    dial.Await([&](const absl::Status& how) {
      EXPECT_TRUE(how.ok());
      EXPECT_FALSE(dial.MustAwait()) << "not one after the other any more";
      dial.Begin();
      ++dialled;
    });
  }
  dial.OnEnd(attempt, At(5), absl::OkStatus());
  dial.Wake(absl::OkStatus());
  EXPECT_EQ(dialled, 3);
  EXPECT_TRUE(dial.MayTry(At(5)).ok());
}

TEST(SharedDialTest, WhoIsToldMayWaitAgain) {
  SharedDial dial;
  dial.OnEnd(dial.Begin(), At(0), Refused());
  uint64_t attempt = dial.Begin();
  int told = 0;
  dial.Await([&](const absl::Status&) {
    ++told;
    attempt = dial.Begin();
    dial.Await([&](const absl::Status&) { ++told; });
  });
  dial.OnEnd(attempt, At(5), Refused());
  dial.Wake(Refused());
  EXPECT_EQ(told, 1);
  dial.OnEnd(attempt, At(15), Refused());
  dial.Wake(Refused());
  EXPECT_EQ(told, 2);
}

TEST(SharedDialTest, NobodyWaitsForAnAttemptFromBeforeTheFailure) {
  SharedDial dial;
  const uint64_t first = dial.Begin();
  const uint64_t old = dial.Begin();
  EXPECT_TRUE(dial.OnEnd(first, At(0), Refused()));
  EXPECT_FALSE(dial.MustAwait());
  EXPECT_FALSE(dial.MayTry(At(4)).ok());
  const uint64_t fresh = dial.Begin();
  EXPECT_TRUE(dial.MustAwait());
  EXPECT_TRUE(dial.MayTry(At(4)).ok()) << "it may wait";
  EXPECT_FALSE(dial.OnEnd(old, At(6), Refused())) << "it says nothing of now";
  EXPECT_TRUE(dial.MustAwait());
  EXPECT_TRUE(dial.OnEnd(fresh, At(7), Refused()));
  EXPECT_FALSE(dial.MayTry(At(16)).ok()) << "the second failure in the row";
  EXPECT_TRUE(dial.MayTry(At(17)).ok());
}

TEST(SharedDialTest, AnAttemptFromBeforeASuccessFailsForItselfOnly) {
  SharedDial dial;
  const uint64_t old = dial.Begin();
  EXPECT_TRUE(dial.OnEnd(dial.Begin(), At(0), absl::OkStatus()));
  EXPECT_FALSE(dial.OnEnd(old, At(200), Refused()));
  EXPECT_TRUE(dial.MayTry(At(200)).ok());
}

TEST(SharedDialTest, AnyAttemptThatSucceedsLetsAllDial) {
  SharedDial dial;
  const uint64_t old = dial.Begin();
  dial.OnEnd(dial.Begin(), At(0), Refused());
  dial.Begin();
  EXPECT_TRUE(dial.MustAwait());
  EXPECT_TRUE(dial.OnEnd(old, At(5), absl::OkStatus()));
  EXPECT_FALSE(dial.MustAwait());
}

}  // namespace
}  // namespace farcall
