// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/reconnect.h"

#include <gtest/gtest.h>

#include <vector>

namespace farcall {
namespace {

using std::chrono::milliseconds;

constexpr Duration kTick = Duration(1);

TimePoint At(int64_t ms) { return TimePoint(milliseconds(ms)); }

absl::Status Refused() { return absl::UnavailableError("connection refused"); }

// How long it waits after a failure at `now`.
Duration PauseAfterFailure(Reconnect& reconnect, TimePoint now) {
  reconnect.OnFailure(now, Refused());
  for (const Duration pause :
       {milliseconds(5), milliseconds(10), milliseconds(20), milliseconds(40), milliseconds(80),
        milliseconds(160), milliseconds(200)}) {
    if (!reconnect.MayTry(now + pause).ok()) continue;
    EXPECT_FALSE(reconnect.MayTry(now + pause - kTick).ok());
    return pause;
  }
  ADD_FAILURE() << "waits longer than the longest pause";
  return Duration::max();
}

TEST(ReconnectTest, TheFirstAttemptMayBeginAtOnce) {
  const Reconnect reconnect;
  EXPECT_TRUE(reconnect.MayTry(TimePoint::min()).ok());
  EXPECT_TRUE(reconnect.MayTry(At(0)).ok());
}

TEST(ReconnectTest, PausesDoubleUpToTheLongest) {
  Reconnect reconnect;
  std::vector<int64_t> pauses;
  for (int i = 0; i < 9; ++i) {
    pauses.push_back(PauseAfterFailure(reconnect, At(1000 * (i + 1))) / milliseconds(1));
  }
  EXPECT_EQ(pauses, (std::vector<int64_t>{5, 10, 20, 40, 80, 160, 200, 200, 200}));
}

TEST(ReconnectTest, ThePauseTellsTheLastError) {
  Reconnect reconnect;
  reconnect.OnFailure(At(100), Refused());
  EXPECT_EQ(reconnect.MayTry(At(100)), Refused());
  const absl::Status other = absl::DeadlineExceededError("no answer within 200ms");
  reconnect.OnFailure(At(200), other);
  EXPECT_EQ(reconnect.MayTry(At(204)), other);
  EXPECT_TRUE(reconnect.MayTry(At(210)).ok());
}

TEST(ReconnectTest, SuccessBeginsAnew) {
  Reconnect reconnect;
  for (int i = 0; i < 5; ++i) reconnect.OnFailure(At(1000), Refused());
  EXPECT_FALSE(reconnect.MayTry(At(1000)).ok());
  reconnect.OnSuccess();
  EXPECT_TRUE(reconnect.MayTry(At(1000)).ok());
  EXPECT_EQ(PauseAfterFailure(reconnect, At(2000)), Reconnect::kFirstPause);
}

TEST(ReconnectTest, PausesLieBetweenTheirBounds) {
  EXPECT_LT(Reconnect::kFirstPause, Reconnect::kLongestPause);
  Reconnect reconnect;
  for (int i = 0; i < 1000; ++i) reconnect.OnFailure(At(i), Refused());
  EXPECT_TRUE(reconnect.MayTry(At(999) + Reconnect::kLongestPause).ok());
}

}  // namespace
}  // namespace farcall
