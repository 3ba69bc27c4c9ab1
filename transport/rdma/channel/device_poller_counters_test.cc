// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/channel/device_poller_counters.h"

#include <infiniband/verbs.h>

#include <set>
#include <string>

#include "gtest/gtest.h"

namespace farcall {
namespace {

TEST(VerbsNamesTest, AreThoseOfTheHeader) {
  const auto status = [](int number) {
    return CompletionStatusName(CompletionStatusIndex(number));
  };
  EXPECT_EQ(status(IBV_WC_SUCCESS), "success");
  EXPECT_EQ(status(IBV_WC_WR_FLUSH_ERR), "wr_flush_err");
  EXPECT_EQ(status(IBV_WC_RETRY_EXC_ERR), "retry_exc_err");
  EXPECT_EQ(status(IBV_WC_RNR_RETRY_EXC_ERR), "rnr_retry_exc_err");
  EXPECT_EQ(status(IBV_WC_GENERAL_ERR), "general_err");
  EXPECT_EQ(status(IBV_WC_TM_ERR), "tm_err");
  const auto event = [](int number) { return AsyncEventName(AsyncEventIndex(number)); };
  EXPECT_EQ(event(IBV_EVENT_CQ_ERR), "cq_err");
  EXPECT_EQ(event(IBV_EVENT_DEVICE_FATAL), "device_fatal");
  EXPECT_EQ(event(IBV_EVENT_PORT_ERR), "port_err");
  EXPECT_EQ(event(IBV_EVENT_SRQ_LIMIT_REACHED), "srq_limit_reached");
  EXPECT_EQ(event(IBV_EVENT_QP_LAST_WQE_REACHED), "qp_last_wqe_reached");
  EXPECT_EQ(event(IBV_EVENT_GID_CHANGE), "gid_change");
}

TEST(VerbsNamesTest, WhatIsNotKnownIsOther) {
  for (const int number : {-1, 99, 1 << 30}) {
    EXPECT_EQ(CompletionStatusName(CompletionStatusIndex(number)), "other");
    EXPECT_EQ(AsyncEventName(AsyncEventIndex(number)), "other");
  }
}

TEST(VerbsNamesTest, EachIsAnother) {
  std::set<std::string> names;
  for (size_t i = 0; i < kCompletionStatuses; ++i) names.emplace(CompletionStatusName(i));
  EXPECT_EQ(names.size(), kCompletionStatuses);
  names.clear();
  for (size_t i = 0; i < kAsyncEventTypes; ++i) names.emplace(AsyncEventName(i));
  EXPECT_EQ(names.size(), kAsyncEventTypes);
}

TEST(DevicePollerCountersTest, PollersAddUp) {
  DevicePollerCounters one;
  one.enrolled.Add(3);
  one.forgotten.Add(1);
  one.bytes_in.Add(100);
  one.breaks[IBV_WC_RETRY_EXC_ERR].Add(1);
  one.receives_posted.Set(512);
  DevicePollerCounters other;
  other.enrolled.Add(1);
  other.bytes_in.Add(5);
  other.breaks[IBV_WC_RETRY_EXC_ERR].Add(2);
  other.breaks[IBV_WC_WR_FLUSH_ERR].Add(1);
  RdmaTraffic traffic;
  one.AddTo(traffic);
  other.AddTo(traffic);
  EXPECT_EQ(traffic.connections, 3u);
  EXPECT_EQ(traffic.connections_ever, 4u);
  EXPECT_EQ(traffic.bytes_in, 105u);
  EXPECT_EQ(traffic.receives_posted, 512u);
  ASSERT_EQ(traffic.breaks.size(), 2u);
  EXPECT_EQ(traffic.breaks[0].name, "retry_exc_err");
  EXPECT_EQ(traffic.breaks[0].count, 3u);
  EXPECT_EQ(traffic.breaks[1].name, "wr_flush_err");
}

}  // namespace
}  // namespace farcall
