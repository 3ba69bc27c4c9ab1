// SPDX-License-Identifier: Apache-2.0
//
// Recorded topologies, and what is chosen on them.

#include "transport/rdma/choice/adapter_choice.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

constexpr uint32_t k400 = 400'000;
constexpr uint32_t k100 = 100'000;

std::array<uint8_t, 16> Ip(int net, int host) {
  return NameOf(Address::Ipv4({10, 0, static_cast<uint8_t>(net), static_cast<uint8_t>(host)}, 0));
}

OwnEnd Own(int number, std::array<uint8_t, 16> name, int node = -1, uint32_t rate = k400) {
  OwnEnd end;
  end.device = absl::StrCat("mlx5_", number);
  end.link_layer = LinkLayer::kRoce;
  end.name = name;
  end.rate = rate;
  end.connections = 0;
  end.prefix_bits = 120;
  end.numa_node = node;
  return end;
}

OfferedEnd Offered(int number, std::array<uint8_t, 16> name, uint32_t rate = k400) {
  OfferedEnd end;
  end.device = absl::StrCat("peer_", number);
  end.link_layer = LinkLayer::kRoce;
  end.name = name;
  end.rate = rate;
  end.connections = 0;
  end.turn = static_cast<uint32_t>(number);
  return end;
}

struct Topology {
  std::vector<OwnEnd> own;
  std::vector<OfferedEnd> offered;
};

// Of a host with two sockets and four adapters on each, all in one network.
Topology EightOnTwoNodes() {
  Topology topology;
  for (int i = 0; i < 8; ++i) {
    topology.own.push_back(Own(i, Ip(0, 10 + i), i / 4));
    topology.offered.push_back(Offered(i, Ip(0, 110 + i)));
  }
  return topology;
}

// The same adapters, each in a network of its own.
Topology Rails(int rails) {
  Topology topology;
  for (int i = 0; i < rails; ++i) {
    topology.own.push_back(Own(i, Ip(i, 1)));
    topology.offered.push_back(Offered(i, Ip(i, 2)));
  }
  return topology;
}

void MakeGid(PortEnd& end, GidType type, LinkLayer link_layer) {
  end.gid = type;
  end.link_layer = link_layer;
}

class AdapterChoiceTest : public testing::Test {
 protected:
  std::vector<AdapterPair> Choose(const Topology& topology) {
    return ChooseAdapters(topology.own, topology.offered,
                          {.loop_node = loop_node_,
                           .seed = seed_,
                           .failures = [this](const OwnEnd* own, const OfferedEnd& offered) {
                             return failures_[{own == nullptr ? "" : own->device, offered.device}];
                           }});
  }
  // "mlx5_0-peer_1", in order.
  std::vector<std::string> Names(const Topology& topology) {
    std::vector<std::string> names;
    for (const AdapterPair& pair : Choose(topology)) {
      names.push_back(absl::StrCat(pair.own ? topology.own[*pair.own].device : "routes", "-",
                                   topology.offered[pair.offered].device));
    }
    return names;
  }
  std::string First(const Topology& topology) {
    const std::vector<std::string> names = Names(topology);
    return names.empty() ? "" : names.front();
  }
  // So many connections one after the other: how many each own and each offered device has.
  std::map<std::string, int> Connect(Topology& topology, int times) {
    std::map<std::string, int> counts;
    for (int i = 0; i < times; ++i) {
      const AdapterPair first = Choose(topology).front();
      OwnEnd& own = topology.own[*first.own];
      OfferedEnd& offered = topology.offered[first.offered];
      ++*own.connections;
      ++*offered.connections;
      ++counts[own.device];
      ++counts[offered.device];
      ++seed_;
    }
    return counts;
  }

  int loop_node_ = -1;
  uint64_t seed_ = 1;
  std::map<std::pair<std::string, std::string>, uint32_t> failures_;
};

using Texts = std::vector<std::string>;

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
