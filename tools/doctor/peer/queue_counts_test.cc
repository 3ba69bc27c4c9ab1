// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/peer/queue_counts.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace farcall::doctor {
namespace {

std::map<std::string, QueueCounters> Counted(uint64_t discards) {
  std::map<std::string, QueueCounters> counters;
  AddStatistic("rx_prio3_pause", 7, counters["eth1"]);
  AddStatistic("rx_prio3_discards", discards, counters["eth1"]);
  AddStatistic("rx_discards_phy", 2 * discards, counters["eth1"]);
  return counters;
}

TEST(QueueCountsTest, WhatMovedComesOver) {
  const std::vector<QueueOf> queues = {{"mlx5_0", "eth1", 3}, {"mlx5_1", "eth2", std::nullopt}};
  const auto moved = MovedOf(ToMessage(queues, Counted(10)), ToMessage(queues, Counted(15)));
  ASSERT_EQ(moved.size(), 1u) << "eth2 was not counted";
  EXPECT_EQ(moved[0].device, "mlx5_0");
  EXPECT_EQ(moved[0].priority, 3u);
  EXPECT_EQ(TextOf(moved[0].moved), "priority 3: discards 5; rx_discards_phy 10");
}

TEST(QueueCountsTest, APeerCanTellNothingThatDoesHarm) {
  CountResponse response;
  QueueCount& count = *response.add_queues();
  count.set_device("\x1b[2J");
  count.set_priority(8);
  count.set_error("\x07");
  count.add_of_priority()->set_counted(99);
  count.add_of_priority()->set_counted(1);  // without values
  for (int i = 0; i < 200; ++i) {
    count.add_discards()->set_name("d" + std::to_string(i) + "\n");
    response.add_queues()->set_device("other" + std::to_string(i));
  }
  const auto moved = MovedOf(response, response);
  ASSERT_EQ(moved.size(), 64u);
  EXPECT_EQ(moved[0].device, "\\x1b[2J");
  EXPECT_EQ(moved[0].moved.error, "\\x07");
  EXPECT_FALSE(moved[0].priority.has_value());
  EXPECT_TRUE(moved[0].moved.of_priority.empty());
  EXPECT_EQ(moved[0].moved.discards.size(), 64u);
  EXPECT_EQ(moved[0].moved.discards.begin()->first, "d0\\n");
}

TEST(QueueCountsTest, FindingsUnderLoad) {
  Comparison comparison;
  comparison.host = "host2";
  comparison.reason = "in_use";
  comparison.seconds = 6;
  const std::vector<QueueOf> queues = {{"mlx5_0", "eth1", 3}};
  comparison.peers_queues = MovedOf(ToMessage(queues, Counted(0)), ToMessage(queues, Counted(9)));
  const Findings there = CheckComparison(comparison);
  ASSERT_FALSE(there.empty());
  EXPECT_EQ(there.back().check, "peer");
  EXPECT_EQ(there.back().verdict, Verdict::kDegraded);
  EXPECT_NE(there.back().finding.find("there, mlx5_0, in 6 s of load: priority 3: discards 9"),
            std::string::npos)
      << there.back().finding;
  const Findings here = CheckLoad(comparison, comparison.peers_queues);
  ASSERT_EQ(here.size(), 1u);
  EXPECT_EQ(here[0].check, "priorities");
  EXPECT_EQ(here[0].subject, "mlx5_0");
}

}  // namespace
}  // namespace farcall::doctor
