// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/loopbacks.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>

namespace farcall::doctor {
namespace {

using std::chrono::seconds;

// Each ping takes `takes`, and says what `reasons` has, else that RDMA was in use.
struct Host {
  TimePoint now{};
  Duration takes{};
  std::map<std::string, std::string> reasons;
  std::map<std::string, int> tries;

  LoopbackPlan Plan() {
    LoopbackPlan plan;
    plan.now = [this] { return now; };
    plan.may_pass = [](absl::string_view reason) { return reason == "timed_out"; };
    plan.ping = [this](const std::string& device) {
      now += takes;
      ++tries[device];
      LoopbackFacts facts;
      facts.device = device;
      facts.answered = true;
      facts.reason = reasons.count(device) > 0 ? reasons[device] : "in_use";
      return facts;
    };
    return plan;
  }
};

TEST(LoopbacksTest, TimeIsForAllOfThem) {
  Host host;
  host.takes = seconds(20);
  const auto all = PingEach({"a", "b", "c", "d"}, host.Plan());
  ASSERT_EQ(all.size(), 4u);
  EXPECT_TRUE(all[0].tried);
  EXPECT_TRUE(all[1].tried);
  EXPECT_FALSE(all[2].tried);
  EXPECT_EQ(all[3].detail, "time was up");
  EXPECT_EQ(all[3].device, "d");
}

TEST(LoopbacksTest, OnlyTheFirstThatFailsIsTriedAgain) {
  Host host;
  host.reasons = {{"b", "timed_out"}, {"c", "timed_out"}};
  PingEach({"a", "b", "c", "d"}, host.Plan());
  EXPECT_EQ(host.tries["a"], 1);
  EXPECT_EQ(host.tries["b"], 3);
  EXPECT_EQ(host.tries["c"], 1);
  EXPECT_EQ(host.tries["d"], 1);
}

TEST(LoopbacksTest, WhatDoesNotPassAndWhatIsLateIsNotTriedAgain) {
  Host host;
  host.takes = seconds(20);
  host.reasons = {{"a", "timed_out"}, {"b", "memlock"}};
  PingEach({"b", "a"}, host.Plan());
  EXPECT_EQ(host.tries["b"], 1);
  Host late;
  late.takes = seconds(31);
  late.reasons = host.reasons;
  PingEach({"a"}, late.Plan());
  EXPECT_EQ(late.tries["a"], 1);
}

TEST(LoopbacksTest, NoMoreThanHostsHave) {
  Host host;
  const auto all = PingEach(std::vector<std::string>(17, "a"), host.Plan());
  ASSERT_EQ(all.size(), 17u);
  EXPECT_TRUE(all[15].tried);
  EXPECT_FALSE(all[16].tried);
}

}  // namespace
}  // namespace farcall::doctor
