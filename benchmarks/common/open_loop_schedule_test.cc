// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/common/open_loop_schedule.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "gtest/gtest.h"

namespace farcall::bench {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using Time = OpenLoopSchedule::Time;

const Time kStart = Time() + std::chrono::hours(1);

TEST(OpenLoopScheduleTest, TheFirstCallIsDueAtTheStart) {
  const OpenLoopSchedule schedule(kStart, 1000);
  EXPECT_EQ(schedule.next(), kStart);
  EXPECT_FALSE(schedule.Due(kStart - nanoseconds(1)));
  EXPECT_TRUE(schedule.Due(kStart));
}

TEST(OpenLoopScheduleTest, CallsComeAtFixedTimesHoweverLateTheyAreTaken) {
  OpenLoopSchedule schedule(kStart, 1000);
  for (int i = 0; i < 5; ++i) {
    // Taken at any time: the due time does not depend on it.
    EXPECT_EQ(schedule.Take(), kStart + milliseconds(i));
  }
}

TEST(OpenLoopScheduleTest, ARateThatIsNoWholeNumberOfNanosecondsDoesNotDrift) {
  OpenLoopSchedule schedule(kStart, 3);
  for (int i = 0; i < 3 * 86'400; ++i) {
    schedule.Take();
  }
  const auto off = schedule.next() - (kStart + std::chrono::hours(24));
  EXPECT_LE(off, microseconds(1));
  EXPECT_GE(off, -microseconds(1));
}

TEST(OpenLoopScheduleTest, WorkersTakeTurns) {
  std::vector<OpenLoopSchedule> workers;
  for (int i = 0; i < 3; ++i) {
    workers.emplace_back(kStart, 1000, i, 3);
  }
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(workers[static_cast<size_t>(i % 3)].Take(), kStart + milliseconds(i)) << i;
  }
}

TEST(OpenLoopScheduleTest, WhatIsLeftIsWhatCouldBeTakenBeforeTheEnd) {
  for (const double rate : {3.0, 700.0, 1e6 / 3}) {
    for (const Time end : {kStart - milliseconds(1), kStart, kStart + milliseconds(990),
                           kStart + nanoseconds(1'000'000'001)}) {
      OpenLoopSchedule schedule(kStart, rate, 1, 2);
      schedule.Take();
      const uint64_t left = schedule.Left(end);
      uint64_t taken = 0;
      for (; schedule.next() < end; ++taken) schedule.Take();
      EXPECT_EQ(left, taken) << rate;
      EXPECT_EQ(schedule.Left(end), 0u);
    }
  }
}

// What the class is for: a server that stalls for 10 ms is charged for every call that was
// due meanwhile, not for one.
TEST(OpenLoopScheduleTest, LatencyFromTheDueTimeSeesAStall) {
  OpenLoopSchedule schedule(kStart, 1000);
  const Time answer = kStart + milliseconds(10);
  nanoseconds worst{0};
  nanoseconds sum{0};
  int calls = 0;
  while (schedule.Due(answer)) {
    const nanoseconds latency = answer - schedule.Take();
    worst = std::max(worst, latency);
    sum += latency;
    ++calls;
  }
  EXPECT_EQ(calls, 11);
  EXPECT_EQ(worst, milliseconds(10));
  EXPECT_EQ(sum / calls, milliseconds(5));
}

}  // namespace
}  // namespace farcall::bench
