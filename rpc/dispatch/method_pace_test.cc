// SPDX-License-Identifier: Apache-2.0

#include "rpc/dispatch/method_pace.h"

#include <gtest/gtest.h>

namespace farcall {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

// Quick calls on the pool until it lets the method go, at most so many.
uint64_t CallsUntilTrusted(MethodPace& pace, uint64_t most = 1'000'000) {
  uint64_t calls = 0;
  while (pace.on_pool() && calls < most) {
    pace.OnPoolCall(microseconds(3));
    ++calls;
  }
  return calls;
}

TEST(MethodPaceTest, BeginsWhereItsRequestsAreRead) { EXPECT_FALSE(MethodPace().on_pool()); }

TEST(MethodPaceTest, TwoLongOnesOfAFewCallsSendItToThePool) {
  MethodPace pace;
  pace.OnLong(1);
  EXPECT_FALSE(pace.on_pool());
  pace.OnLong(1 + MethodPace::kFewCalls);
  EXPECT_TRUE(pace.on_pool());
}

// A burst of calls that block: many are read, and none is over.
TEST(MethodPaceTest, TwoLongOnesBeforeAnyCallWasOverSendItToThePool) {
  MethodPace pace;
  pace.OnLong(0);
  EXPECT_FALSE(pace.on_pool());
  pace.OnLong(0);
  EXPECT_TRUE(pace.on_pool());
}

TEST(MethodPaceTest, RareLongOnesDoNot) {
  MethodPace pace;
  for (uint64_t calls = 1; calls < 100'000; calls += MethodPace::kFewCalls + 1) pace.OnLong(calls);
  EXPECT_FALSE(pace.on_pool());
}

TEST(MethodPaceTest, QuickOnesInARowBringItBack) {
  MethodPace pace;
  pace.OnLong(1);
  pace.OnLong(2);
  for (uint64_t i = 0; i + 1 < MethodPace::kProof; ++i) pace.OnPoolCall(MethodPace::kQuick);
  EXPECT_TRUE(pace.on_pool());
  pace.OnPoolCall(seconds(1));
  for (uint64_t i = 0; i + 1 < MethodPace::kProof; ++i) pace.OnPoolCall(microseconds(1));
  EXPECT_TRUE(pace.on_pool()) << "a long one begins the row anew";
  pace.OnPoolCall(microseconds(1));
  EXPECT_FALSE(pace.on_pool());
}

// What waited for a thread when it was let go.
TEST(MethodPaceTest, CallsThatStillRunOnThePoolChangeNothing) {
  MethodPace pace;
  pace.OnLong(1);
  pace.OnLong(2);
  EXPECT_EQ(CallsUntilTrusted(pace), MethodPace::kProof);
  pace.OnPoolCall(seconds(1));
  EXPECT_FALSE(pace.on_pool());
}

TEST(MethodPaceTest, WhoseProofWasFalseHasToProveTwiceAsMuch) {
  MethodPace pace;
  uint64_t expected = MethodPace::kProof;
  for (uint64_t calls = 1; calls < 40; calls += 2) {
    pace.OnLong(calls);
    pace.OnLong(calls + 1);
    ASSERT_TRUE(pace.on_pool());
    EXPECT_EQ(CallsUntilTrusted(pace), expected);
    expected = std::min(2 * expected, MethodPace::kMaxProof);
  }
  EXPECT_EQ(expected, MethodPace::kMaxProof);
  // Long ago.
  pace.OnLong(100 + MethodPace::kForgiven);
  pace.OnLong(101 + MethodPace::kForgiven);
  EXPECT_EQ(CallsUntilTrusted(pace), MethodPace::kProof);
}

TEST(MethodPaceTest, LongOnesThatEndOnALoopWhileItIsOnThePoolProveNothing) {
  MethodPace pace;
  pace.OnLong(1);
  pace.OnLong(2);
  for (uint64_t i = 0; i + 1 < MethodPace::kProof; ++i) pace.OnPoolCall(microseconds(1));
  pace.OnLong(3);
  pace.OnPoolCall(microseconds(1));
  EXPECT_FALSE(pace.on_pool()) << "it began before";
}

}  // namespace
}  // namespace farcall
