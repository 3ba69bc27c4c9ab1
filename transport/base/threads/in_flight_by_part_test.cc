// SPDX-License-Identifier: Apache-2.0

#include "transport/base/threads/in_flight_by_part.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace farcall {
namespace {

TEST(InFlightByPartTest, CountsAllPartsTogether) {
  InFlightByPart calls;
  calls.Begin(0);
  calls.Begin(1);
  calls.Begin(65);
  EXPECT_EQ(calls.count(), 3);
  calls.End(1);
  calls.End(65);
  EXPECT_EQ(calls.count(), 1);
  calls.End(0);
  EXPECT_EQ(calls.count(), 0);
  calls.WaitForNone();
  EXPECT_EQ(calls.WaitForNone(std::chrono::hours(1)), 0);
}

TEST(InFlightByPartTest, PatienceEndsAndTellsHowManyAreLeft) {
  InFlightByPart calls;
  calls.Begin(3);
  calls.Begin(4);
  EXPECT_EQ(calls.WaitForNone(Duration::zero()), 2);
  EXPECT_EQ(calls.WaitForNone(Duration::min()), 2);
  EXPECT_EQ(calls.WaitForNone(std::chrono::milliseconds(1)), 2);
  calls.End(3);
  calls.End(4);
}

// Each wait must end, whichever part comes to its end last, and whenever.
TEST(InFlightByPartTest, WhoWaitsIsAwokenByTheLastEnd) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 200;
  for (int round = 0; round < kRounds; ++round) {
    InFlightByPart calls;
    std::atomic<int> ended{0};
    for (size_t i = 0; i < kThreads; ++i) calls.Begin(i);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        for (size_t more = 0; more < 10; ++more) {
          calls.Begin(i);
          calls.End(i);
        }
        ++ended;
        calls.End(i);
      });
    }
    calls.WaitForNone();
    EXPECT_EQ(ended, kThreads);
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace farcall
