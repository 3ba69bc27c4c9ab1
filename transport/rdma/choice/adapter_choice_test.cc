// SPDX-License-Identifier: Apache-2.0
//
// Recorded topologies, and what is chosen on them.

#include "transport/rdma/choice/adapter_choice_testing.h"

namespace farcall {
namespace {

TEST_F(AdapterChoiceTest, OneAdapterIsTaken) {
  const Topology one{{Own(0, Ip(0, 1))}, {Offered(0, Ip(0, 2))}};
  EXPECT_EQ(Names(one), Texts({"mlx5_0-peer_0"}));
  EXPECT_EQ(Choose(one).front().why,
            "mlx5_0 to peer_0: the same network, 400 Gb/s, 0 connections here, "
            "0 connections there");
}

TEST_F(AdapterChoiceTest, NearerOnesGoFirst) {
  for (seed_ = 0; seed_ < 50; ++seed_) {
    loop_node_ = static_cast<int>(seed_ % 2);
    Topology topology = EightOnTwoNodes();
    const AdapterPair first = Choose(topology).front();
    EXPECT_EQ(topology.own[*first.own].numa_node, loop_node_);
  }
}

TEST_F(AdapterChoiceTest, FartherOnesAreUsedWhenNearerOnesHaveTwiceAsMany) {
  loop_node_ = 1;
  Topology topology = EightOnTwoNodes();
  std::map<std::string, int> counts = Connect(topology, 48);
  for (int i = 0; i < 8; ++i) {
    const int mine = counts[absl::StrCat("mlx5_", i)];
    if (i < 4) {
      EXPECT_NEAR(mine, 4, 1) << i;
    } else {
      EXPECT_NEAR(mine, 8, 1) << i;
    }
    EXPECT_EQ(counts[absl::StrCat("peer_", i)], 6) << i;
  }
}

TEST_F(AdapterChoiceTest, LoopsOfBothNodesUseAllAlike) {
  Topology topology = EightOnTwoNodes();
  std::map<std::string, int> counts;
  for (int i = 0; i < 64; ++i) {
    loop_node_ = i % 2;
    for (const auto& [device, count] : Connect(topology, 1)) counts[device] += count;
  }
  for (const auto& [device, count] : counts) EXPECT_EQ(count, 8) << device;
  EXPECT_EQ(counts.size(), 16u);
}

TEST_F(AdapterChoiceTest, OneThatIsDownIsLeftOut) {
  Topology topology = EightOnTwoNodes();
  topology.own[3].usable = false;
  std::map<std::string, int> counts = Connect(topology, 70);
  EXPECT_EQ(counts["mlx5_3"], 0);
  EXPECT_EQ(counts["mlx5_2"], 10);
  topology.own[3].usable = true;
  EXPECT_EQ(Connect(topology, 10)["mlx5_3"], 10) << "until it has as many";
}

TEST_F(AdapterChoiceTest, TheFasterOneUntilItHasSoManyMore) {
  Topology topology{{Own(0, Ip(0, 1), -1, k100), Own(1, Ip(0, 2))},
                    {Offered(0, Ip(0, 3), 4 * k400)}};
  std::map<std::string, int> counts = Connect(topology, 4);
  EXPECT_EQ(counts["mlx5_1"], 4);
  counts = Connect(topology, 16);
  EXPECT_EQ(counts["mlx5_0"], 4);
  EXPECT_EQ(counts["mlx5_1"], 12);
}

TEST_F(AdapterChoiceTest, OfEqualSharesTheFasterOneIsTaken) {
  Topology topology{{Own(0, Ip(0, 1), -1, k100), Own(1, Ip(0, 2))},
                    {Offered(0, Ip(0, 3), 4 * k400)}};
  topology.own[1].connections = 3;
  for (seed_ = 0; seed_ < 20; ++seed_) EXPECT_EQ(First(topology), "mlx5_1-peer_0");
}

// A fast adapter gains nothing by a slow one at the other end.
TEST_F(AdapterChoiceTest, TheSlowerEndCounts) {
  Topology topology{{Own(0, Ip(0, 1), -1, k100), Own(1, Ip(0, 2), -1, k100)},
                    {Offered(0, Ip(0, 3), k100), Offered(1, Ip(0, 4))}};
  EXPECT_TRUE(absl::EndsWith(First(topology), "peer_1")) << "where a connection has more";
  topology.own[0].rate = k400;
  EXPECT_EQ(First(topology), "mlx5_0-peer_1");
}

TEST_F(AdapterChoiceTest, LoadOfBothEndsCounts) {
  Topology topology{{Own(0, Ip(0, 1)), Own(1, Ip(0, 2))},
                    {Offered(0, Ip(0, 3)), Offered(1, Ip(0, 4))}};
  topology.own[0].connections = 1;
  topology.offered[1].connections = 2;
  EXPECT_EQ(First(topology), "mlx5_1-peer_0");
  topology.own[1].connections = 9;
  EXPECT_EQ(First(topology), "mlx5_0-peer_0");
  const std::vector<AdapterPair> pairs = Choose(topology);
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_TRUE(absl::StrContains(pairs[1].why, "9 connections here, 2 connections there"))
      << pairs[1].why;
}

TEST_F(AdapterChoiceTest, WhatFailedLatelyIsTheLast) {
  Topology topology = Rails(2);
  failures_[{"mlx5_0", "peer_0"}] = 1;
  EXPECT_EQ(Names(topology), Texts({"mlx5_1-peer_1", "mlx5_1-peer_0", "routes-peer_1"}))
      << "by another port";
  topology.own[0].connections = 0;
  failures_[{"mlx5_1", "peer_1"}] = 2;
  failures_[{"mlx5_0", "peer_1"}] = failures_[{"mlx5_1", "peer_0"}] = 2;
  EXPECT_EQ(First(topology), "mlx5_0-peer_0") << "where all have failed";
}

// Those of the first release tell neither rates nor connections, and list addresses by their text.
TEST_F(AdapterChoiceTest, WhatIsNotToldIsNeutral) {
  Topology topology = EightOnTwoNodes();
  for (OfferedEnd& end : topology.offered) {
    end.rate = 0;
    end.connections.reset();
  }
  std::map<std::string, int> counts;
  for (seed_ = 0; seed_ < 400; ++seed_) {
    const AdapterPair first = Choose(topology).front();
    ++counts[topology.offered[first.offered].device];
    ++counts[topology.own[*first.own].device];
  }
  EXPECT_EQ(counts.size(), 16u);
  for (const auto& [device, count] : counts) EXPECT_NEAR(count, 50, 30) << device;
  topology.own[0].connections = 1;
  for (seed_ = 0; seed_ < 50; ++seed_) EXPECT_FALSE(absl::StartsWith(First(topology), "mlx5_0-"));
}

// The best of each port speaks for it.
TEST_F(AdapterChoiceTest, APortMayHaveSeveralEnds) {
  Topology topology{{Own(0, Ip(0, 1)), Own(0, Ip(5, 1)), Own(0, Ip(5, 7))}, {Offered(0, Ip(5, 2))}};
  topology.own[1].preference = 2;
  topology.own[2].preference = 1;
  const std::vector<AdapterPair> pairs = Choose(topology);
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].own, 2u);
  topology.offered[0].name = Ip(9, 2);
  topology.own[0].name = Ip(8, 2);
  EXPECT_EQ(Choose(topology)[0].own, 0u) << "the nearest, where the network is not known";
}

TEST_F(AdapterChoiceTest, NothingOfOneSideIsNothing) {
  EXPECT_TRUE(Choose({{Own(0, Ip(0, 1))}, {}}).empty());
  EXPECT_EQ(Names({{}, {Offered(0, Ip(0, 1))}}), Texts({"routes-peer_0"}));
}

}  // namespace
}  // namespace farcall
