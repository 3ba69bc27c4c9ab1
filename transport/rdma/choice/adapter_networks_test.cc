// SPDX-License-Identifier: Apache-2.0
//
// Which ends of two hosts reach each other at all.

#include "transport/rdma/choice/adapter_choice_testing.h"

namespace farcall {
namespace {

TEST_F(AdapterChoiceTest, EachRailKeepsToItsNetwork) {
  for (seed_ = 0; seed_ < 20; ++seed_) {
    const std::vector<std::string> names = Names(Rails(8));
    ASSERT_EQ(names.size(), 9u);
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end() - 1),
              (std::set<std::string>{"mlx5_0-peer_0", "mlx5_1-peer_1", "mlx5_2-peer_2",
                                     "mlx5_3-peer_3", "mlx5_4-peer_4", "mlx5_5-peer_5",
                                     "mlx5_6-peer_6", "mlx5_7-peer_7"}));
    EXPECT_TRUE(absl::StartsWith(names.back(), "routes-")) << "what is known may be wrong";
  }
}

TEST_F(AdapterChoiceTest, AFabricIsLeftOnlyWhereThereIsNoOther) {
  // Of two fabrics; the host has one, which is loaded, in the first.
  Topology topology{{Own(0, Ip(0, 1)), Own(1, Ip(7, 1))},
                    {Offered(0, Ip(0, 2)), Offered(1, Ip(9, 2))}};
  topology.own[0].connections = 99;
  EXPECT_EQ(First(topology), "mlx5_0-peer_0");
  topology.own[0].usable = false;
  EXPECT_EQ(First(topology), "mlx5_1-peer_0");
  EXPECT_TRUE(absl::StrContains(Choose(topology).front().why, "by routes"));
}

TEST_F(AdapterChoiceTest, OtherLinkLayersAndFamiliesAreLeftOut) {
  Topology topology{{Own(0, Ip(0, 1))}, {Offered(0, Ip(0, 2))}};
  topology.own[0].link_layer = LinkLayer::kIwarp;
  EXPECT_EQ(Names(topology), Texts({"routes-peer_0"}));
  topology.own[0].link_layer = LinkLayer::kUnknown;
  EXPECT_EQ(Names(topology), Texts({"mlx5_0-peer_0"}));
  topology.own[0].name = {0x20, 1};
  EXPECT_EQ(Names(topology), Texts({"routes-peer_0"}));
}

TEST_F(AdapterChoiceTest, PortsOfInfiniBandTalkWithinASubnetAndAPartition) {
  Topology topology{{Own(0, {0xfe, 0x80, 0, 0, 0, 0, 0, 1, 1})},
                    {Offered(0, {0xfe, 0x80, 0, 0, 0, 0, 0, 1, 2})}};
  MakeGid(topology.own[0], GidType::kInfiniBand, LinkLayer::kInfiniBand);
  MakeGid(topology.offered[0], GidType::kInfiniBand, LinkLayer::kInfiniBand);
  topology.own[0].partition = 0x8001;
  topology.offered[0].partition = 0x0001;
  EXPECT_EQ(First(topology), "mlx5_0-peer_0");
  topology.own[0].partition = 0x0001;
  EXPECT_EQ(First(topology), "") << "two limited members";
  topology.own[0].partition = 0x8002;
  EXPECT_EQ(First(topology), "") << "another partition";
  topology.offered[0].partition = 0;
  EXPECT_EQ(First(topology), "mlx5_0-peer_0") << "unknown";
  topology.offered[0].name[7] = 2;
  EXPECT_EQ(First(topology), "") << "another subnet";
}

TEST_F(AdapterChoiceTest, PortsOfRoceTalkWithOnesOfTheirKind) {
  Topology topology{{Own(0, Ip(0, 1))}, {Offered(0, Ip(3, 2))}};
  MakeGid(topology.own[0], GidType::kRoceV2, LinkLayer::kRoce);
  MakeGid(topology.offered[0], GidType::kRoceV2, LinkLayer::kRoce);
  EXPECT_EQ(First(topology), "mlx5_0-peer_0");
  topology.own[0].name = {0xfe, 0x80, 1};
  EXPECT_EQ(First(topology), "") << "link-local";
  topology.own[0].name = Ip(3, 1);
  topology.own[0].gid = GidType::kRoceV1;
  EXPECT_EQ(First(topology), "");
}

TEST_F(AdapterChoiceTest, WithoutAPrefixNetworksAreAsUsual) {
  Topology topology{{Own(0, Ip(0, 1)), Own(1, Ip(1, 1))}, {Offered(0, Ip(1, 2))}};
  topology.own[0].prefix_bits = topology.own[1].prefix_bits = 0;
  EXPECT_EQ(First(topology), "mlx5_1-peer_0");
  topology.own[0].prefix_bits = 96 + 16;
  topology.own[1].connections = 1;
  EXPECT_EQ(First(topology), "mlx5_0-peer_0");
}

TEST_F(AdapterChoiceTest, ByAddressBeforeByPort) {
  Topology topology = Rails(2);
  for (int i = 0; i < 2; ++i) {
    topology.own.push_back(topology.own[static_cast<size_t>(i)]);
    MakeGid(topology.own.back(), GidType::kRoceV2, LinkLayer::kRoce);
    topology.offered.push_back(topology.offered[static_cast<size_t>(i)]);
    MakeGid(topology.offered.back(), GidType::kRoceV2, LinkLayer::kRoce);
  }
  const std::vector<AdapterPair> pairs = Choose(topology);
  ASSERT_EQ(pairs.size(), 5u);
  EXPECT_FALSE(pairs[2].own) << "by routes";
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(topology.offered[pairs[i].offered].gid.has_value(), i > 2) << i;
  }
  EXPECT_TRUE(absl::EndsWith(pairs[3].why, "after others: it is set up over TCP"));
}

TEST_F(AdapterChoiceTest, AnAddressOfThisHostIsLeftToItsRoutes) {
  Topology topology = Rails(2);
  topology.own.push_back(Own(9, topology.offered[1].name));
  topology.own.back().usable = false;
  EXPECT_EQ(First(topology), "routes-peer_1");
}

TEST_F(AdapterChoiceTest, AnOwnPortIsTheNearest) {
  Topology topology = EightOnTwoNodes();
  topology.offered.resize(1);
  topology.offered[0].name = topology.own[5].name;
  for (auto* const end : {static_cast<PortEnd*>(&topology.offered[0])}) {
    MakeGid(*end, GidType::kRoceV2, LinkLayer::kRoce);
  }
  for (OwnEnd& end : topology.own) MakeGid(end, GidType::kRoceV2, LinkLayer::kRoce);
  topology.own[5].connections = 50;
  EXPECT_EQ(First(topology), "mlx5_5-peer_0");
}

}  // namespace
}  // namespace farcall
