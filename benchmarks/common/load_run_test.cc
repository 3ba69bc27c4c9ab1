// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/common/load_run.h"

#include <atomic>
#include <chrono>
#include <vector>

#include "benchmarks/common/call_load_testing.h"
#include "gtest/gtest.h"

namespace farcall::bench {
namespace {

// Its calls are of one kind and the other in turn; those of the second fail.
class TurnSlot final : public CallLoad::Slot {
 public:
  TurnSlot(Ender& ender, std::span<CallTally> tallies) : ender_(ender), tallies_(tallies) {}
  void Begin(CallLoad& load) override {
    const size_t kind = count_++ % tallies_.size();
    ender_.Add(load, *this, tallies_[kind], kind == 1 ? 7 : 0);
  }

 private:
  Ender& ender_;
  const std::span<CallTally> tallies_;
  size_t count_ = 0;
};

class LoadRunTest : public testing::Test {
 protected:
  LoadRunTest() {
    plan_.stop = &stop_;
    plan_.make = [this](int load, std::span<CallTally> tallies) {
      made_.push_back(load);
      return std::make_unique<TurnSlot>(ender_, tallies);
    };
  }

  std::atomic<bool> stop_{false};
  std::vector<int> made_;  // the load of each slot
  Ender ender_;
  LoadPlan plan_;
};

TEST_F(LoadRunTest, SlotsAreDealtOutEvenly) {
  plan_.loads = 3;
  plan_.slots = 8;
  plan_.measured = std::chrono::milliseconds(1);
  RunLoad(plan_);
  EXPECT_EQ(made_, (std::vector<int>{0, 0, 0, 1, 1, 1, 2, 2}));
}

TEST_F(LoadRunTest, EachLoadHasASlot) {
  plan_.loads = 3;
  plan_.slots = 1;
  plan_.measured = std::chrono::milliseconds(1);
  RunLoad(plan_);
  EXPECT_EQ(made_, (std::vector<int>{0, 1, 2}));
}

TEST_F(LoadRunTest, KindsAreCountedApart) {
  plan_.kinds = 2;
  plan_.measured = std::chrono::hours(1);
  ender_.on_end = [this](int ended) {
    if (ended == 1000) stop_ = true;
  };
  const LoadOutcome outcome = RunLoad(plan_);
  ASSERT_EQ(outcome.kinds.size(), 2u);
  EXPECT_GE(outcome.kinds[0].latency.count(), 500u);
  EXPECT_EQ(outcome.kinds[0].failed(), 0u);
  EXPECT_EQ(outcome.kinds[1].latency.count(), 0u);
  EXPECT_GE(outcome.kinds[1].errors.at(7).calls, 500u);
  EXPECT_GT(outcome.measured.count(), 0);
}

TEST_F(LoadRunTest, EachSecondIsToldOnce) {
  plan_.measured = std::chrono::hours(1);
  plan_.loads = 2;
  plan_.rate = 1000;
  plan_.slots = 100;
  uint64_t told = 0;
  plan_.each_second = [&](LoadPlan::Seconds at, LoadPlan::Seconds since, const CallCounts& counts) {
    EXPECT_GE(at.count(), 0.9);
    EXPECT_GT(since.count(), 0);
    told += counts.latency.count();
    if (told > 0) stop_ = true;
  };
  const LoadOutcome outcome = RunLoad(plan_);
  EXPECT_GT(told, 0u);
  EXPECT_GE(outcome.kinds[0].latency.count(), told);
  EXPECT_EQ(outcome.not_begun, 0u) << "it was stopped";
}

TEST_F(LoadRunTest, EachCallThatWasDueIsCountedOrTold) {
  plan_.measured = std::chrono::milliseconds(20);
  plan_.loads = 2;
  plan_.rate = 1e6;
  const LoadOutcome outcome = RunLoad(plan_);
  EXPECT_EQ(outcome.kinds[0].latency.count() + outcome.not_begun, 20'000u);
}

TEST_F(LoadRunTest, TheWarmupIsNotCounted) {
  plan_.warmup = std::chrono::hours(1);
  std::atomic<uint64_t> ended{0};
  ender_.on_end = [&](int number) {
    ended = static_cast<uint64_t>(number);
    if (number == 100) stop_ = true;
  };
  const LoadOutcome outcome = RunLoad(plan_);
  EXPECT_GE(ended, 100u);
  EXPECT_LT(outcome.kinds[0].latency.count(), ended) << "some ended before the warmup did";
}

}  // namespace
}  // namespace farcall::bench
