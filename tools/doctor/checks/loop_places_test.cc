// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "tools/doctor/checks/checks.h"
#include "tools/doctor/checks/checks_testing.h"

namespace farcall::doctor {
namespace {

constexpr int kLoops = 8;

std::vector<std::string> All(const node::Inventory& inventory) {
  std::vector<std::string> names;
  for (const node::Device& device : inventory.devices()) names.push_back(device.name());
  return names;
}

Finding Check(const node::Inventory& inventory, const SettingsFacts& settings = {},
              int loops = kLoops) {
  const Findings findings = CheckLoopPlaces(inventory, All(inventory), loops, settings);
  EXPECT_EQ(findings.size(), 1u);
  return findings.empty() ? Finding() : findings[0];
}

node::Inventory Eight(const char* allowed = "0-127") {
  node::Inventory inventory = Read("cx7_eight");
  inventory.set_allowed_cpus(allowed);
  return inventory;
}

TEST(LoopPlacesCheckTest, EachLoopHasTheAdaptersOfItsNode) {
  const Finding finding = Check(Eight());
  EXPECT_EQ(finding.verdict, Verdict::kOk);
  EXPECT_EQ(finding.finding,
            "4 loops on node 0 (0-31,64-95) take first mlx5_0 of node 0, mlx5_1 of node 0, mlx5_2 "
            "of node 0, mlx5_3 of node 0; 4 loops on node 1 (32-63,96-127) take first mlx5_4 of "
            "node 1, mlx5_5 of node 1, mlx5_6 of node 1, mlx5_7 of node 1");
  EXPECT_EQ(finding.meaning, "");
  const Finding one = Check(Read("cx7_roce"));
  EXPECT_EQ(one.verdict, Verdict::kOk);
  EXPECT_EQ(one.finding, "8 loops on node 0 (0-15) take first mlx5_0 of node 0, mlx5_1 of node 0");
}

TEST(LoopPlacesCheckTest, AContainerOfOneSocketTakesItsAdapters) {
  const Finding finding = Check(Eight("40-47"));
  EXPECT_EQ(finding.verdict, Verdict::kOk);
  EXPECT_TRUE(absl::StartsWith(finding.finding, "8 loops on node 1 (40-47) take first mlx5_4 "));
}

TEST(LoopPlacesCheckTest, WhatCrossesIsDegraded) {
  node::Inventory inventory = Read("cx7_roce");
  inventory.set_allowed_cpus("16-31");
  Finding finding = Check(inventory);
  EXPECT_EQ(finding.verdict, Verdict::kDegraded);
  EXPECT_TRUE(Says(finding, "8 loops on node 1 (16-31) take first mlx5_0 of node 0"));
  EXPECT_TRUE(Says(finding, "let the process use processors of node 0 (0-15)"));
  EXPECT_TRUE(Says(finding, "topology manager"));
  SettingsFacts settings;
  settings.cpus = {17, 18};
  finding = Check(Read("cx7_roce"), settings);
  EXPECT_EQ(finding.verdict, Verdict::kDegraded);
  EXPECT_TRUE(Says(finding, "8 loops on node 1 (17-18)"));
  EXPECT_TRUE(Says(finding, "FARCALL_CPUS or RuntimeOptions::cpus with processors of node 0"));
  settings.cpus = {1, 17};
  EXPECT_EQ(Check(Read("cx7_roce"), settings).verdict, Verdict::kDegraded) << "half of them";
  settings.cpus = {1, 2};
  EXPECT_EQ(Check(Read("cx7_roce"), settings).verdict, Verdict::kOk);
}

TEST(LoopPlacesCheckTest, WhereTheSchedulerChoosesItIsSaid) {
  SettingsFacts settings;
  settings.near_adapters = false;
  Finding finding = Check(Read("cx7_roce"), settings);
  EXPECT_EQ(finding.verdict, Verdict::kOk);
  EXPECT_TRUE(Says(finding, "8 on several nodes take first mlx5_0"));
  EXPECT_TRUE(Says(finding, "the scheduler chooses"));
  finding = Check(Read("cx7_roce"), {}, 17);
  EXPECT_TRUE(Says(finding, "17 on several nodes")) << "more loops than the node has processors";
}

TEST(LoopPlacesCheckTest, DevicesWithoutANodeAreNear) {
  const Finding finding = Check(Read("rxe"));
  EXPECT_EQ(finding.verdict, Verdict::kOk);
  EXPECT_EQ(finding.meaning, "");
  EXPECT_TRUE(Says(finding, "8 loops on node 0 (0-31) take first rxe0"));
}

TEST(LoopPlacesCheckTest, WithoutAnAdapterNothingIsSaid) {
  EXPECT_TRUE(CheckLoopPlaces(Eight(), {}, kLoops, {}).empty());
}

TEST(LoopPlacesCheckTest, WhatCannotBeReadIsUnknown) {
  const auto without = [](auto change) {
    node::Inventory inventory = Eight();
    change(inventory);
    return Check(inventory).verdict;
  };
  EXPECT_EQ(without([](node::Inventory& all) { all.clear_numa_nodes(); }), Verdict::kUnknown);
  EXPECT_EQ(without([](node::Inventory& all) { all.mutable_numa_nodes(0)->clear_cpus(); }),
            Verdict::kUnknown);
  EXPECT_EQ(without([](node::Inventory& all) { all.clear_allowed_cpus(); }), Verdict::kUnknown);
  EXPECT_EQ(without([](node::Inventory& all) { all.set_allowed_cpus("0,200"); }), Verdict::kUnknown)
      << "of a node that is hidden";
  EXPECT_EQ(without([](node::Inventory& all) {
              all.mutable_devices(3)->mutable_pci()->clear_numa_node();
            }),
            Verdict::kUnknown);
  EXPECT_EQ(without([](node::Inventory& all) {
              all.mutable_devices(3)->mutable_ports(0)->clear_rate_gbps();
            }),
            Verdict::kUnknown)
      << "it might be the fastest";
  EXPECT_EQ(CheckLoopPlaces(Eight(), {"mlx5_0", "gone"}, kLoops, {})[0].verdict, Verdict::kUnknown);
}

}  // namespace
}  // namespace farcall::doctor
