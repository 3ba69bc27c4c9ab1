// SPDX-License-Identifier: Apache-2.0
//
// Hosts with several adapters: which of them connections use.

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "transport/rdma/choice/past_failures.h"
#include "transport/rdma/rdma_adapters_testing.h"

namespace farcall {
namespace {

class RdmaSpreadTest : public RdmaAdaptersTest, public testing::WithParamInterface<RdmaSetUp> {
 protected:
  void Start(const Change& change = nullptr) {
    RdmaAdaptersTest::Start([&](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
      rig.rdma.set_up = GetParam();
      if (change) change(fabric, rig);
    });
  }
};

INSTANTIATE_TEST_SUITE_P(BySetUp, RdmaSpreadTest,
                         testing::Values(RdmaSetUp::kRdmaCm, RdmaSetUp::kOverTcp),
                         [](const auto& set_up) {
                           return set_up.param == RdmaSetUp::kRdmaCm ? "ByRdmaCm" : "OverTcp";
                         });

TEST_P(RdmaSpreadTest, ChannelsUseAllAdaptersEvenly) {
  Start();
  ASSERT_TRUE(Connect(4 * kAdapters));
  EXPECT_EQ(Counts(), Each(4));
}

TEST_P(RdmaSpreadTest, ChannelsThatBeginAtOnceUseAllAdaptersEvenly) {
  Start();
  for (int i = 0; i < 4 * kAdapters; ++i) Begin();
  for (const auto& channel : channels_) ASSERT_TRUE(Wait(*channel));
  EXPECT_EQ(Counts(), Each(4));
}

TEST_P(RdmaSpreadTest, WhoEndsMakesRoom) {
  Start();
  ASSERT_TRUE(Connect(2 * kAdapters));
  const std::string left = InfoOf(*channels_[3]).device;
  End(*channels_[3]);
  RunFor(std::chrono::seconds(2));
  EXPECT_EQ(Counts()[left], 1);
  ASSERT_TRUE(Connect());
  EXPECT_EQ(InfoOf(*channels_.back()).device, left);
  EXPECT_EQ(Counts(), Each(2));
}

TEST_P(RdmaSpreadTest, APortThatIsDownIsNotChosenUntilItIsBack) {
  Start();
  ASSERT_TRUE(Connect(kAdapters));
  faults().SetPort("c1", false);
  faults().SetPort("s2", false);
  while (!channels_.empty()) End(*channels_.front());
  RunFor(std::chrono::seconds(5));
  ASSERT_TRUE(Connect(6));
  std::map<std::string, int> counts = Counts();
  EXPECT_EQ(counts["c1"] + counts["s2"], 0);
  EXPECT_EQ(counts["c0"], 2);
  EXPECT_EQ(counts["s0"], 2);
  faults().SetPort("c1", true);
  faults().SetPort("s2", true);
  RunFor(std::chrono::seconds(5));
  ASSERT_TRUE(Connect(2));
  EXPECT_EQ(Counts(), Each(2));
}

TEST_P(RdmaSpreadTest, ADeviceThatWasRemovedIsNotChosenUntilItIsBack) {
  Start();
  ASSERT_TRUE(Connect(kAdapters));
  for (const char* const device : {"c1", "s2"}) faults().RemoveDevice(device, /*flush=*/true);
  RunFor(std::chrono::seconds(2));
  while (!channels_.empty()) End(*channels_.front());
  RunFor(std::chrono::seconds(5));
  ASSERT_TRUE(Connect(6));
  std::map<std::string, int> counts = Counts();
  EXPECT_EQ(counts["c1"] + counts["s2"], 0);
  for (const char* const device : {"c1", "s2"}) {
    ASSERT_TRUE(Until([&] { return !faults().RemovalPending(device); }, std::chrono::seconds(9)));
    ASSERT_TRUE(faults().AddDevice(device));
  }
  Watch();
  RunFor(std::chrono::seconds(10));
  ASSERT_TRUE(Connect(2));
  EXPECT_EQ(Counts(), Each(2));
}

TEST_P(RdmaSpreadTest, TheFasterAdapterCarriesMore) {
  Start([](FakeFabricOptions& fabric, RdmaRigOptions&) {
    for (FakeDeviceOptions& device : fabric.devices) {
      if (device.name == "c0" || device.name == "s3") device.active_speed = 128;  // of 32
    }
  });
  ASSERT_TRUE(Connect(14));
  std::map<std::string, int> counts = Counts();
  EXPECT_EQ(counts["c0"], 8);
  EXPECT_EQ(counts["c1"], 2);
  EXPECT_EQ(counts["s3"], 8);
  EXPECT_EQ(counts["s0"], 2);
}

// The first set-up is rejected: its token is void at the others. Of the next offer another is
// first.
TEST_P(RdmaSpreadTest, AWayThatFailedIsNotTheNextThatIsTried) {
  Start();
  ASSERT_TRUE(Connect(kAdapters));
  Channel& failing = Begin();
  const std::string call = GetParam() == RdmaSetUp::kRdmaCm ? "rdma_accept" : "ibv_modify_qp";
  faults().FailCall(call, GetParam() == RdmaSetUp::kRdmaCm ? 1 : 3, ENOMEM);
  ASSERT_TRUE(Until([&] { return failing.over.has_value(); }, std::chrono::seconds(30)));
  EXPECT_FALSE(failing.over->ok());
  End(failing);
  ASSERT_TRUE(Connect());
  EXPECT_FALSE(absl::StrContains(InfoOf(*channels_.back()).device_why, "after others"))
      << InfoOf(*channels_.back()).device_why;
}

TEST_P(RdmaSpreadTest, WhyIsTold) {
  Start();
  ASSERT_TRUE(Connect());
  const ConnectionInfo info = InfoOf(*channels_.back());
  EXPECT_EQ(info.device_why, absl::StrCat(info.device,
                                          " to s0: the same network, 100 Gb/s, 0 connections here, "
                                          "0 connections there"));
}

TEST_F(RdmaAdaptersTest, AnAdapterThatNobodyReachesIsLeftForAWhile) {
  Start([](FakeFabricOptions&, RdmaRigOptions& rig) { rig.rdma.set_up = RdmaSetUp::kRdmaCm; });
  for (int i = 0; i < kAdapters; ++i) {
    faults().CutPath("s0", absl::StrCat("c", i), FakeFaults::Cut::kSilent);
  }
  // Twice, over different ports of the client.
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(Connect());
    EXPECT_TRUE(absl::StrContains(InfoOf(*channels_.back()).device_why, "after others"));
  }
  faults().RecordCalls();
  ASSERT_TRUE(Connect());
  const auto calls = faults().recorded_calls();
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "rdma_connect"), 1) << "not there again";
  for (int i = 0; i < kAdapters; ++i) faults().HealPath("s0", absl::StrCat("c", i));
  RunFor(PastFailures::kRemembered);
  ASSERT_TRUE(Connect(2));
  EXPECT_GE(Counts()["s0"], 1);
}

TEST_F(RdmaAdaptersTest, AServerOfTheFirstReleaseIsSpreadOverToo) {
  Start([](FakeFabricOptions&, RdmaRigOptions& rig) { rig.rdma.set_up = RdmaSetUp::kRdmaCm; });
  older_ = true;
  ASSERT_TRUE(Connect(4 * kAdapters));
  std::map<std::string, int> counts = Counts();
  for (int i = 0; i < kAdapters; ++i) {
    EXPECT_EQ(counts[absl::StrCat("c", i)], 4) << i;
    EXPECT_GE(counts[absl::StrCat("s", i)], 1) << i;
  }
}

// Packets are lost; the set-up over TCP does not notice.
TEST_F(RdmaAdaptersTest, WhatCarriesNothingIsLeftForAWhile) {
  Start([](FakeFabricOptions&, RdmaRigOptions& rig) { rig.rdma.set_up = RdmaSetUp::kOverTcp; });
  ASSERT_TRUE(Connect());
  const std::string c = InfoOf(*channels_[0]).device;
  End(*channels_[0]);
  RunFor(std::chrono::seconds(3));
  faults().CutPath("s0", c, FakeFaults::Cut::kSilent);
  std::string taken;
  // Until that one is taken: chance decides between the client's ports.
  for (int i = 0; i < 100 && taken != c; ++i) {
    ASSERT_TRUE(Connect());
    taken = InfoOf(*channels_[0]).device;
    End(*channels_[0]);
    RunFor(std::chrono::seconds(3));
  }
  ASSERT_EQ(taken, c);
  for (int i = 0; i < 15; ++i) {
    ASSERT_TRUE(Connect());
    EXPECT_NE(InfoOf(*channels_[0]).device, c);
    End(*channels_[0]);
    RunFor(std::chrono::seconds(3));
  }
  faults().HealPath("s0", c);
}

// A client of the first release dials the first address of an offer.
TEST_F(RdmaAdaptersTest, AClientOfTheFirstReleaseIsSpread) {
  Start();
  for (int i = 0; i < 3 * kAdapters; ++i) Begin();
  for (const auto& channel : channels_) ASSERT_TRUE(Wait(*channel));
  std::map<std::string, int> first;
  for (const auto& channel : channels_) ++first[channel->offer.front().device];
  for (int i = 0; i < kAdapters; ++i) EXPECT_EQ(first[absl::StrCat("s", i)], 3) << i;
}

class RdmaNodesTest : public RdmaAdaptersTest {
 protected:
  // Adapters of both hosts, by turns on node 0 and 1.
  RdmaNodesTest() {
    for (int i = 0; i < kAdapters; ++i) {
      const std::string device = absl::StrCat(sys_class_, "/infiniband/c", i, "/device");
      std::filesystem::create_directories(device);
      std::ofstream(device + "/numa_node") << i % 2 << "\n";
    }
  }
  ~RdmaNodesTest() override { std::filesystem::remove_all(sys_class_); }

  const std::string sys_class_ = absl::StrCat(testing::TempDir(), "/adapters-sys-class");
};

TEST_F(RdmaNodesTest, TheAdaptersOfTheLoopsNodeGoFirst) {
  Start([this](FakeFabricOptions&, RdmaRigOptions& rig) {
    rig.view.sys_class = sys_class_;
    rig.node_of = [](const EventLoop&) { return 1; };
  });
  ASSERT_TRUE(Connect(2));
  EXPECT_EQ(Counts()["c1"], 1);
  EXPECT_EQ(Counts()["c3"], 1);
  ASSERT_TRUE(Connect(4));
  EXPECT_EQ(Counts()["c1"], 2);
  EXPECT_EQ(Counts()["c0"], 1) << "all are used, nearer ones twice as much";
  EXPECT_TRUE(absl::StrContains(InfoOf(*channels_[5]).device_why, "another NUMA node"));
}

TEST_F(RdmaNodesTest, LoopsMayMoveToTheAdaptersBeforeTheFirstIsChosen) {
  std::vector<int> nodes;
  int node = 0;
  Start([&](FakeFabricOptions&, RdmaRigOptions& rig) {
    rig.view.sys_class = sys_class_;
    rig.node_of = [&](const EventLoop&) { return node; };
    rig.on_nodes = [&](const std::vector<int>& seen) {
      nodes = seen;
      node = 1;
    };
  });
  ASSERT_TRUE(Connect(2));
  std::sort(nodes.begin(), nodes.end());
  EXPECT_EQ(nodes, (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(Counts()["c1"] + Counts()["c3"], 2);
  Finish();
}

}  // namespace
}  // namespace farcall
