// SPDX-License-Identifier: Apache-2.0

#include "tools/gen_selectors/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tools/node/testing/fixture.h"

namespace farcall::selectors {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<node::Inventory> Nodes(const std::vector<std::string>& fixtures) {
  static std::map<std::string, node::Inventory> seen;
  std::vector<node::Inventory> nodes;
  for (const std::string& name : fixtures) {
    const auto [at, is_new] = seen.try_emplace(name);
    if (is_new) at->second = node::ReadInventory(node::FixtureTree::Named(name).root());
    nodes.push_back(at->second);
  }
  return nodes;
}

PlanOptions Options(bool per_rail = false, Plugin plugin = Plugin::kShared) {
  PlanOptions options;
  options.wish.plugin = plugin;
  options.per_rail = per_rail;
  options.name = "hca";
  return options;
}

TEST(PlanTest, OneResourceTakesAllNodesOfAKind) {
  Plan plan;
  ASSERT_TRUE(MakePlan(Options(), Nodes({"cx7_roce", "cx7_roce_other"}), plan).ok());
  ASSERT_EQ(plan.resources.size(), 1u);
  EXPECT_EQ(plan.resources[0].name, "hca");
  EXPECT_EQ(plan.resources[0].members.size(), 4u);
  EXPECT_THAT(plan.resources[0].selectors.devices, ElementsAre("1021"));
  EXPECT_TRUE(plan.resources[0].selectors.if_names.empty()) << "so it holds for nodes to come";
  EXPECT_TRUE(plan.warnings.empty());
}

TEST(PlanTest, RailsHaveResourcesByName) {
  Plan plan;
  ASSERT_TRUE(MakePlan(Options(true), Nodes({"cx7_roce", "cx7_roce_other"}), plan).ok());
  ASSERT_EQ(plan.resources.size(), 2u);
  EXPECT_EQ(plan.resources[1].name, "hca_b");
  EXPECT_THAT(plan.resources[1].selectors.if_names, ElementsAre("ens1f1np1", "ens3f1np1"));
  EXPECT_THAT(plan.resources[1].kept_out_by_name, HasSubstr("mlx5_0 (0000:17:00.0, ens1f0np0)"));
  EXPECT_THAT(plan.warnings, ElementsAre(HasSubstr("different names")));
}

TEST(PlanTest, DifferentAdaptersAreOneResourceToo) {
  Plan plan;
  ASSERT_TRUE(MakePlan(Options(), Nodes({"cx7_roce", "mixed_fabric", "no_rdma"}), plan).ok());
  EXPECT_THAT(plan.warnings, Contains(HasSubstr("do not reach each other")));
  EXPECT_THAT(plan.warnings, Contains("plain-node-1: nothing to select"));
}

TEST(PlanTest, NamesThatCrossRailsAreRefusedWithTheCure) {
  std::vector<node::Inventory> nodes = Nodes({"cx7_roce", "cx7_roce_other"});
  // The second port of the one has the name of the first port of the other.
  node::Inventory& other = nodes[1];
  other.mutable_devices(1)->set_netdevs(0, "ens1f0np0");
  for (node::Netdev& netdev : *other.mutable_netdevs()) {
    if (netdev.name() == "ens3f1np1") netdev.set_name("ens1f0np0");
  }
  Plan plan;
  const absl::Status status = MakePlan(Options(true), nodes, plan);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  for (const char* const part :
       {"resource hca_a", "mlx5_1 (0000:5e:00.1, ens1f0np0)", "roce-node-2", "nodeSelector"}) {
    EXPECT_THAT(std::string(status.message()), HasSubstr(part));
  }
}

TEST(PlanTest, APortWithoutLinkInTheWayIsNamedWithTheOptionThatTakesItIn) {
  const std::vector<node::Inventory> nodes = Nodes({"cx7_infiniband", "mixed_fabric"});
  PlanOptions options = Options();
  options.wish.link = "InfiniBand";
  Plan plan;
  const absl::Status status = MakePlan(options, nodes, plan);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("It was left out: no link (DOWN, Polling): --include-down keeps it."));
  options.wish.include_down = true;
  Plan with_it;
  EXPECT_TRUE(MakePlan(options, nodes, with_it).ok());
}

TEST(PlanTest, WhatThePluginNeedsOfANodeIsTold) {
  std::vector<node::Inventory> nodes = Nodes({"cx7_roce"});
  nodes[0].set_rdma_netns_mode("exclusive");
  nodes[0].clear_modules();
  nodes[0].clear_device_nodes();
  nodes[0].mutable_devices(0)->clear_umad();
  nodes[0].add_cut("/sys/class/net");
  Plan plan;
  ASSERT_TRUE(MakePlan(Options(), nodes, plan).ok());
  EXPECT_THAT(plan.warnings,
              ElementsAre(HasSubstr("not all was read"), HasSubstr("rdma system set netns shared"),
                          HasSubstr("modprobe rdma_ucm"), HasSubstr("modprobe ib_umad")));
}

TEST(PlanTest, NothingToSelectIsAnError) {
  const auto message = [](const std::vector<node::Inventory>& nodes, Plugin plugin) {
    Plan plan;
    const absl::Status status = MakePlan(Options(false, plugin), nodes, plan);
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    return std::string(status.message());
  };
  EXPECT_THAT(message({}, Plugin::kShared), HasSubstr("no node in the input"));
  EXPECT_THAT(message(Nodes({"no_rdma"}), Plugin::kShared),
              HasSubstr("no node has an RDMA device"));
  EXPECT_THAT(message(Nodes({"rxe"}), Plugin::kShared), HasSubstr("left to select"));
  EXPECT_THAT(message(Nodes({"cx7_roce"}), Plugin::kSriov), HasSubstr("virtual functions"));
}

TEST(PlanTest, ANodeThatComesTwiceIsRefused) {
  Plan plan;
  const absl::Status status = MakePlan(Options(), Nodes({"cx7_roce", "cx7_roce"}), plan);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("roce-node-1"));
}

TEST(PlanTest, VirtualFunctionsAreSelectedWithoutTheirPhysicalOne) {
  Plan plan;
  ASSERT_TRUE(MakePlan(Options(false, Plugin::kSriov), Nodes({"sriov"}), plan).ok());
  ASSERT_EQ(plan.resources.size(), 1u);
  EXPECT_EQ(plan.resources[0].members.size(), 3u);
  EXPECT_THAT(plan.resources[0].selectors.devices, ElementsAre("101e"));
  EXPECT_THAT(plan.resources[0].selectors.drivers, ElementsAre("mlx5_core"));
}

}  // namespace
}  // namespace farcall::selectors
