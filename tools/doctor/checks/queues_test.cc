// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/checks/queues.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <optional>
#include <utility>

#include "tools/doctor/checks/checks_testing.h"

namespace farcall::doctor {
namespace {

QueueCounters Counters(std::initializer_list<std::pair<const char*, uint64_t>> statistics) {
  QueueCounters counters;
  for (const auto& [name, value] : statistics) AddStatistic(name, value, counters);
  return counters;
}

TEST(QueuesTest, DropsOfFarcallsPriorityAreAmissAndThoseOfOthersAreTold) {
  struct Case {
    QueueCounters moved;
    std::optional<uint32_t> priority;
    Verdict verdict;
    const char* says;
  };
  for (const Case& one : {
           Case{Counters({{"rx_prio3_pause", 4}, {"rx_prio3_discards", 0}}), 3, Verdict::kOk,
                "in 2 s: priority 3: pauses received 4"},
           Case{Counters({{"rx_prio3_pause", 0}, {"rx_prio3_discards", 0}}), 3, Verdict::kOk,
                "no pause, no discard"},
           Case{Counters({{"rx_prio3_pause", 4}, {"rx_prio3_discards", 2}}), 3, Verdict::kDegraded,
                "farcall's priority, 3, were dropped"},
           Case{Counters({{"rx_prio3_pause", 4}, {"rx_prio0_discards", 2}}), 3, Verdict::kOk,
                "priority 0: discards 2"},
           Case{Counters({{"rx_prio3_pause", 4}, {"rx_prio0_discards", 2}}), std::nullopt,
                Verdict::kUnknown, "which priority is farcall's"},
           Case{Counters({{"rx_pfc_ena_frames_pri3", 1}, {"rx_discard_packets_cos1", 7}}), 3,
                Verdict::kUnknown, "of which priority is not told"},
           Case{Counters({{"rx_prio3_pause", 4}}), 3, Verdict::kUnknown,
                "discards are not counted"},
           Case{Counters({{"rx_prio3_discards", 0}}), 3, Verdict::kUnknown,
                "pauses are not counted"},
           Case{Counters({{"rx_packets", 7}}), 3, Verdict::kUnknown, "of 1 counters"},
       }) {
    const Finding finding = CheckQueues("mlx5_0", one.moved, one.priority, {"in 2 s"});
    EXPECT_EQ(finding.verdict, one.verdict) << finding.finding;
    EXPECT_TRUE(Says(finding, one.says)) << finding.finding << "; " << finding.meaning;
  }
  QueueCounters unread;
  unread.error = "its driver does not tell its counters: Operation not supported";
  EXPECT_EQ(CheckQueues("mlx5_0", unread, 3, {"in 2 s"}).verdict, Verdict::kUnknown);
  EXPECT_TRUE(Says(CheckQueues("mlx5_0", unread, 3, {"in 2 s"}), "not supported"));
}

TEST(QueuesTest, ALoadThatGoesInAnotherPriorityIsSeen) {
  const auto moved = [](uint64_t ours, uint64_t others) {
    return Counters({{"rx_prio3_pause", 0},
                     {"rx_prio3_discards", 0},
                     {"tx_prio3_bytes", ours},
                     {"tx_prio0_bytes", others}});
  };
  const auto verdict = [](const QueueCounters& counters, bool carried) {
    return CheckQueues("mlx5_0", counters, 3, {"in 9 s of load", carried}).verdict;
  };
  EXPECT_EQ(verdict(moved(0, 100'000'000), true), Verdict::kDegraded);
  EXPECT_EQ(verdict(moved(0, 100'000'000), false), Verdict::kOk) << "the load was TCP's";
  EXPECT_EQ(verdict(moved(50'000'000, 50'000'000), true), Verdict::kOk);
  EXPECT_EQ(verdict(moved(0, 1000), true), Verdict::kOk) << "too little to tell";
}

}  // namespace
}  // namespace farcall::doctor
