// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/dcb/queue_counters.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace farcall::doctor {
namespace {

using Statistics = std::vector<std::pair<const char*, uint64_t>>;

QueueCounters Of(const Statistics& statistics) {
  QueueCounters counters;
  for (const auto& [name, value] : statistics) AddStatistic(name, value, counters);
  return counters;
}

TEST(QueueCountersTest, EachDriverHasNamesOfItsOwn) {
  struct Case {
    const char* name;
    Counted counted;
    size_t priority;
  };
  for (const Case& one : {
           Case{"rx_prio3_pause", Counted::kPausesReceived, 3},
           Case{"tx_prio0_pause", Counted::kPausesSent, 0},
           Case{"rx_prio3_discards", Counted::kDiscards, 3},
           Case{"rx_prio7_cong_discard", Counted::kDiscards, 7},
           Case{"tx_prio5_bytes", Counted::kBytesSent, 5},
           Case{"rx_pfc_ena_frames_pri3", Counted::kPausesReceived, 3},
           Case{"tx_bytes_pri1", Counted::kBytesSent, 1},
           Case{"rx_priority_4_xoff.nic", Counted::kPausesReceived, 4},
           Case{"port.tx_priority_6_xoff", Counted::kPausesSent, 6},
           Case{"rx_pause_prio_2", Counted::kPausesReceived, 2},
       }) {
    const QueueCounters counters = Of({{one.name, 5}});
    ASSERT_EQ(counters.of_priority.count(one.counted), 1u) << one.name;
    EXPECT_EQ(counters.of_priority.at(one.counted)[one.priority], 5u) << one.name;
  }
  EXPECT_EQ(Of({{"rx_discard_packets_cos1", 2}}).discards.at("rx_discard_packets_cos1"), 2u);
  EXPECT_EQ(Of({{"rx_out_of_buffer", 2}}).discards.size(), 1u);
}

TEST(QueueCountersTest, OtherNamesAreCountedAndLeft) {
  const QueueCounters counters = Of({{"rx_prio8_pause", 1},
                                     {"rx_prio_pause", 1},
                                     {"rx_prio3_pause_duration", 9},
                                     {"rx_packets", 7},
                                     {"rx_discard_packets_cos8", 1},
                                     {"", 1}});
  EXPECT_FALSE(counters.known());
  EXPECT_EQ(counters.named, 6u);
}

TEST(QueueCountersTest, WhatMovedIsToldAndNothingElse) {
  const QueueCounters before = Of({{"rx_prio3_pause", 5},
                                   {"rx_prio3_discards", 1},
                                   {"rx_out_of_buffer", 9},
                                   {"tx_prio0_bytes", 100}});
  const QueueCounters after = Of({{"rx_prio3_pause", 17},
                                  {"rx_prio3_discards", 1},
                                  {"rx_out_of_buffer", 9},
                                  {"tx_prio0_bytes", 90},
                                  {"tx_prio1_pause", 4}});
  const QueueCounters moved = Moved(before, after);
  EXPECT_EQ(TextOf(moved), "priority 3: pauses received 12");
  EXPECT_EQ(moved.of_priority.count(Counted::kPausesSent), 0u) << "not there before";
  EXPECT_EQ(moved.of_priority.at(Counted::kBytesSent)[0], 0u) << "the driver was loaded anew";
  EXPECT_EQ(TextOf(Moved(after, after)), "");
}

TEST(QueueCountersTest, DataCenterBridgingCountsPausesWhereTheDriverDoesNot) {
  Dcb dcb;
  dcb.pfc.emplace().pauses_received[3] = 7;
  QueueCounters counters;
  AddPauses(dcb, counters);
  EXPECT_EQ(TextOf(counters), "priority 3: pauses received 7");
  counters = Of({{"rx_prio3_pause", 1}});
  AddPauses(dcb, counters);
  EXPECT_EQ(TextOf(counters), "priority 3: pauses received 1");
  QueueCounters none;
  AddPauses(Dcb(), none);
  EXPECT_FALSE(none.known());
}

}  // namespace
}  // namespace farcall::doctor
