// SPDX-License-Identifier: Apache-2.0
//
// What each balancer is chosen for, through the set. That all are dealt with in proportion once all
// is well is seen by the simulation.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>

#include "rpc/cluster/balance/testing/shares.h"
#include "rpc/cluster/server_set.h"

namespace farcall {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ServerId = ServerSet::ServerId;
using Outcome = ServerSet::Outcome;

class BalancersTest : public testing::TestWithParam<const char*> {
 protected:
  void Make(std::vector<int> weights, uint64_t seed = 1) {
    options_.load_balancer = GetParam();
    set_ = std::make_unique<ServerSet>(options_, seed);
    set_->Update(Nodes(weights), now_);
  }
  // Ports, and with the first set also ids, count from 1.
  static std::vector<ServerNode> Nodes(const std::vector<int>& weights) {
    std::vector<ServerNode> nodes(weights.size());
    for (size_t i = 0; i < weights.size(); ++i) {
      nodes[i].address = Address::Ipv4({10, 0, 0, 1}, static_cast<uint16_t>(i + 1));
      nodes[i].weight = weights[i];
    }
    return nodes;
  }
  std::map<int, int> Count(int calls, Duration step = microseconds(1)) {
    return CountCalls(*set_, set_->Views(now_), calls, now_, step);
  }
  // It was away for a while.
  void DieAndReturn(ServerId id) {
    set_->OnUnreachable(id, now_);
    set_->DueProbes(now_);
    set_->OnProbe(id, false, now_);
    now_ += seconds(1);
    set_->DueProbes(now_);
    set_->OnProbe(id, true, now_);
  }
  void Call(ServerId id, Duration latency, Outcome outcome = Outcome::kSuccess) {
    set_->OnStart(id);
    set_->OnEnd(id, outcome, latency, now_);
  }

  ChannelOptions options_;
  TimePoint now_{seconds(100)};
  std::unique_ptr<ServerSet> set_;
};

TEST_P(BalancersTest, AReturningServerGetsItsShareSlowly) {
  options_.slow_start_ms = 1000;
  Make({1, 1, 1, 1, 1});
  const double full = Count(10'000)[1];
  DieAndReturn(1);
  // A fifth of the time each: a part of 0.145 to 0.905 on average, and then all of it.
  for (const double part : {0.145, 0.335, 0.525, 0.715, 0.905, 1.0}) {
    const int calls = Count(10'000, microseconds(20))[1];
    EXPECT_NEAR(calls, full * part, 0.12 * full) << "part " << part;
  }
}

TEST_P(BalancersTest, ANewServerGetsItsShareSlowlyAndNoBurst) {
  options_.slow_start_ms = 1000;
  Make({1, 1, 1});
  Count(1000);
  set_->Update(Nodes({1, 1, 1, 1}), now_);
  EXPECT_LT(Count(1000)[4], 60);
  now_ += milliseconds(1000);
  EXPECT_NEAR(Count(1000)[4], 250, 110);
}

TEST_P(BalancersTest, WhereAllStartSlowlyNoneIsHeldBack) {
  options_.slow_start_ms = 1000;
  Make({1, 1, 1});
  for (ServerId id : {1, 2, 3}) DieAndReturn(id);
  now_ -= seconds(3);
  std::map<int, int> counts = Count(900);
  for (int port : {1, 2, 3}) EXPECT_GT(counts[port], 0);
}

TEST_P(BalancersTest, ADeadOnesShareIsSpreadOverTheOthers) {
  Make({1, 1, 1, 1, 1});
  set_->OnUnreachable(2, now_);
  std::map<int, int> counts = Count(4000);
  EXPECT_EQ(counts[2], 0);
  for (int port : {1, 3, 4, 5}) EXPECT_NEAR(counts[port], 1000, 400);
}

TEST_P(BalancersTest, RetriesAreSpreadOverTheOthers) {
  Make({1, 1, 1, 1});
  std::map<ServerId, int> counts;
  const std::vector<ServerId> tried = {2};
  for (uint64_t i = 0; i < 3000; ++i) ++counts[*set_->Pick(i, tried, now_)];
  EXPECT_EQ(counts[2], 0);
  for (ServerId id : {1, 3, 4}) EXPECT_NEAR(counts[id], 1000, 400);
}

TEST_P(BalancersTest, ClientsDoNotAllBeginWithTheSame) {
  std::map<ServerId, int> counts;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Make({1, 1, 1, 1}, seed);
    ++counts[*set_->Pick(std::nullopt, {}, now_)];
  }
  for (ServerId id : {1, 2, 3, 4}) EXPECT_GT(counts[id], 20) << id;
}

INSTANTIATE_TEST_SUITE_P(All, BalancersTest,
                         testing::Values("rr", "random", "wrr", "wr", "c_hash", "la"));

using WeightsTest = BalancersTest;

TEST_P(WeightsTest, SharesAreInProportionToWeights) {
  Make({1, 2, 5});
  std::map<int, int> counts = Count(8000);
  EXPECT_NEAR(counts[1], 1000, 300);
  EXPECT_NEAR(counts[2], 2000, 500);
  EXPECT_NEAR(counts[3], 5000, 700);
  set_->Update(Nodes({5, 2, 1}), now_);
  EXPECT_NEAR(Count(8000)[1], 5000, 700);
}

TEST_P(WeightsTest, TheLargestWeightsWork) {
  Make({10'000, 1, 9'999});
  std::map<int, int> counts = Count(10'000);
  EXPECT_NEAR(counts[1], 5000, 800);
  EXPECT_LT(counts[2], 100);
  // Where the heavy ones were tried the light one is found.
  EXPECT_EQ(set_->Pick(7, std::vector<ServerId>{1, 3}, now_), 2u);
}

INSTANTIATE_TEST_SUITE_P(All, WeightsTest, testing::Values("wrr", "wr", "c_hash"));

using TurnsTest = BalancersTest;

TEST_P(TurnsTest, TheTurnsOfAHeavyOneAreSpreadAmongTheOthers) {
  Make({3, 1, 1, 1});
  // In any six in a row the heavy one has three turns, up to one; and never four at once.
  std::vector<ServerId> turns;
  for (int i = 0; i < 600; ++i) turns.push_back(*set_->Pick(std::nullopt, {}, now_));
  for (size_t i = 0; i + 6 <= turns.size(); ++i) {
    const auto from = turns.begin() + static_cast<ptrdiff_t>(i);
    EXPECT_NEAR(static_cast<double>(std::count(from, from + 6, 1u)), 3, 1) << "from " << i;
  }
}

TEST_P(TurnsTest, OneThatWasAwayDoesNotMakeUpForItsTurns) {
  options_.slow_start_ms = 0;
  Make({1, 1, 1, 1});
  set_->OnUnreachable(1, now_);
  Count(10'000);
  set_->OnProbe(1, true, now_);
  EXPECT_LE(Count(40)[1], 11);
}

TEST_P(TurnsTest, RetriesTakeNoTurns) {
  Make({1, 1});
  for (int i = 0; i < 1000; ++i) set_->Pick(std::nullopt, std::vector<ServerId>{1}, now_);
  EXPECT_NEAR(Count(100)[2], 50, 1);
}

INSTANTIATE_TEST_SUITE_P(All, TurnsTest, testing::Values("wrr"));

using LatencyTest = BalancersTest;

TEST_P(LatencyTest, TheFasterGetMoreAndTheSlowAreStillLookedAt) {
  Make({1, 1, 1});
  std::map<ServerId, int> counts;
  for (int i = 0; i < 3000; ++i) {
    now_ += milliseconds(10);
    const ServerId id = *set_->Pick(std::nullopt, {}, now_);
    ++counts[id];
    Call(id, id == 1 ? milliseconds(20) : milliseconds(1));
  }
  EXPECT_LT(counts[1], 100);
  EXPECT_GT(counts[1], 10) << "30 s, and a look every few seconds";
  EXPECT_NEAR(counts[2], counts[3], 500);
}

TEST_P(LatencyTest, OneThatIsFastAgainIsFoundOut) {
  Make({1, 1});
  int slow = 0;
  for (int i = 0; i < 1000; ++i) {
    now_ += milliseconds(1);
    const ServerId id = *set_->Pick(std::nullopt, {}, now_);
    slow += id == 1;
    Call(id, id == 1 ? milliseconds(50) : milliseconds(1));
  }
  EXPECT_LT(slow, 10);
  EXPECT_NEAR(Count(1000, milliseconds(10))[1], 450, 150) << "over ten seconds";
}

TEST_P(LatencyTest, FailingFastIsNotFast) {
  Make({1, 1, 1});
  int failing = 0;
  for (int i = 0; i < 1000; ++i) {
    now_ += milliseconds(1);
    const ServerId id = *set_->Pick(std::nullopt, {}, now_);
    failing += id == 1;
    Call(id, id == 1 ? microseconds(1) : milliseconds(1),
         id == 1 ? Outcome::kFailure : Outcome::kSuccess);
  }
  EXPECT_LT(failing, 50);
}

TEST_P(LatencyTest, CallsInFlightCount) {
  Make({1, 1});
  for (int i = 0; i < 20; ++i) {
    Call(1, milliseconds(1));
    Call(2, milliseconds(1));
  }
  for (int i = 0; i < 9; ++i) set_->OnStart(1);
  int busy = 0;
  for (int i = 0; i < 20; ++i) {
    const ServerId id = *set_->Pick(std::nullopt, {}, now_);
    busy += id == 1;
    set_->OnStart(id);
  }
  EXPECT_NEAR(busy, 6, 3) << "the other one catches up first";
}

INSTANTIATE_TEST_SUITE_P(All, LatencyTest, testing::Values("la"));

}  // namespace
}  // namespace farcall
