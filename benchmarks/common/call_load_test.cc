// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/common/call_load.h"

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "benchmarks/common/call_load_testing.h"
#include "gtest/gtest.h"

namespace farcall::bench {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Each tenth call fails.
class EndedSlot final : public CallLoad::Slot {
 public:
  EndedSlot(Ender& ender, CallTally& tally) : ender_(ender), tally_(tally) {}
  void Begin(CallLoad& load) override {
    ender_.Add(load, *this, tally_, ++count_ % 10 == 0 ? 5 : 0);
  }

 private:
  Ender& ender_;
  CallTally& tally_;
  int count_ = 0;
};

std::vector<std::unique_ptr<CallLoad::Slot>> Slots(Ender& ender, CallTally& tally, int count) {
  std::vector<std::unique_ptr<CallLoad::Slot>> slots;
  for (int i = 0; i < count; ++i) slots.push_back(std::make_unique<EndedSlot>(ender, tally));
  return slots;
}

TEST(CallLoadTest, AClosedLoopBeginsACallForEachThatEnded) {
  CallTally tally;
  Ender ender;
  CallLoad load(Slots(ender, tally, 4), steady_clock::now() + hours(1));
  ender.on_end = [&](int ended) {
    if (ended == 100) load.Stop();
  };
  load.Start();
  load.WaitForLast();
  const CallCounts counts = tally.Take();
  EXPECT_EQ(counts.latency.count() + counts.failed(), 103u) << "three were under way at the stop";
  EXPECT_GT(counts.errors.at(5).calls, 0u);
  EXPECT_LE(counts.errors.at(5).calls, 10u);
  EXPECT_LE(ender.most(), 4u);
}

TEST(CallLoadTest, NothingBeginsAfterTheEnd) {
  CallTally tally;
  Ender ender;
  CallLoad load(Slots(ender, tally, 3), steady_clock::now() - milliseconds(1));
  load.Start();
  load.WaitForLast();
  EXPECT_EQ(tally.Take().latency.count(), 3u) << "those that Start began";
  load.Pace(OpenLoopSchedule(steady_clock::now(), 1e6));
  EXPECT_EQ(tally.Take().latency.count(), 0u);
}

TEST(CallLoadTest, AnOpenLoopBeginsWhatIsDue) {
  CallTally tally;
  Ender ender;
  const auto start = steady_clock::now();
  CallLoad load(Slots(ender, tally, 1000), start + milliseconds(500));
  load.Pace(OpenLoopSchedule(start, 200));
  load.WaitForLast();
  const CallCounts counts = tally.Take();
  // A machine that is busy may not come to all.
  EXPECT_EQ(counts.latency.count() + counts.failed() + load.not_begun(), 100u)
      << "due in that time";
}

TEST(CallLoadTest, TheWaitForASlotIsLatency) {
  CallTally tally;
  Ender ender;
  ender.HoldBack(true);
  const auto start = steady_clock::now() - milliseconds(20);
  CallLoad load(Slots(ender, tally, 1), start + hours(1));
  ender.on_end = [&](int ended) {
    if (ended == 2) load.Stop();
  };
  std::thread pacer([&] { load.Pace(OpenLoopSchedule(start, 1000)); });
  // The second call was due 19 ms ago, and has no slot before the first ended.
  ender.HoldBack(false);
  pacer.join();
  load.WaitForLast();
  const CallCounts counts = tally.Take();
  ASSERT_EQ(counts.latency.count(), 2u);
  EXPECT_GE(counts.latency.min(), milliseconds(19));
}

TEST(CallLoadTest, WhatWasDueAndNotBegunIsCounted) {
  CallTally tally;
  Ender ender;
  const auto start = steady_clock::now();
  const auto end = start + milliseconds(20);
  CallLoad load(Slots(ender, tally, 1), end);
  ender.on_end = [end](int) {
    while (steady_clock::now() < end) std::this_thread::yield();
  };
  load.Pace(OpenLoopSchedule(start, 1000));
  load.WaitForLast();
  EXPECT_GE(load.not_begun(), 19u);
  EXPECT_EQ(tally.Take().latency.count() + load.not_begun(), 20u);
}

}  // namespace
}  // namespace farcall::bench
