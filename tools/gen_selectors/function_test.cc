// SPDX-License-Identifier: Apache-2.0

#include "tools/gen_selectors/function.h"

#include <gtest/gtest.h>

#include "tools/node/testing/fixture.h"

namespace farcall::selectors {
namespace {

std::vector<Function> Read(absl::string_view fixture) {
  const node::FixtureTree tree = node::FixtureTree::Named(fixture);
  return FunctionsOf(node::ReadInventory(tree.root()), 0);
}

TEST(FunctionTest, AFunctionHasWhatSelectorsCompare) {
  const std::vector<Function> functions = Read("cx7_infiniband");
  ASSERT_EQ(functions.size(), 2u);
  const Function& function = functions[0];
  EXPECT_EQ(function.node, "ib-node-1");
  EXPECT_EQ(function.vendor, "15b3");
  EXPECT_EQ(function.device, "1021");
  EXPECT_EQ(function.driver, "mlx5_core");
  EXPECT_EQ(function.if_name, "ib0");
  EXPECT_EQ(function.link_type, "infiniband");
  EXPECT_TRUE(function.up);
  EXPECT_TRUE(function.has_umad);
  EXPECT_EQ(function.gbps, 400);
  EXPECT_EQ(Describe(function), "mlx5_0 (0000:17:00.0, ib0)");
}

TEST(FunctionTest, VirtualFunctionsKnowTheNameOfTheirPhysicalOne) {
  const std::vector<Function> functions = Read("sriov");
  ASSERT_EQ(functions.size(), 4u);
  EXPECT_EQ(functions[0].numvfs, 4u);
  EXPECT_EQ(functions[0].pf_name, "");
  EXPECT_EQ(functions[2].pf_name, "ens1f0np0");
  EXPECT_EQ(functions[2].vf_index, 1u);
  EXPECT_EQ(functions[2].port_state, "DOWN, Disabled");
}

TEST(FunctionTest, TheUplinkAndNotARepresentorNamesThePhysicalFunction) {
  const node::FixtureTree tree = node::FixtureTree::Named("sriov");
  tree.Apply(
      "[sys/devices/pci0000:17/0000:17:00.0/net/a_representor]\nphys_port_name = pf0vf0\n"
      "type = 1\ndevice -> ../../../0000:17:00.0\n[sys/class/net]\n"
      "a_representor -> ../../devices/pci0000:17/0000:17:00.0/net/a_representor\n");
  const auto functions = FunctionsOf(node::ReadInventory(tree.root()), 0);
  EXPECT_EQ(functions[1].pf_name, "ens1f0np0");
  EXPECT_EQ(functions[0].if_name, "a_representor") << "the shared plugin takes the first name";
}

TEST(FunctionTest, SoftwareDevicesAreTheLast) {
  const node::FixtureTree tree = node::FixtureTree::Named("cx7_roce");
  tree.Apply("[sys/class/infiniband/a_rxe]\nnode_desc = rxe\nparent = ens1f0np0\n");
  const auto functions = FunctionsOf(node::ReadInventory(tree.root()), 0);
  ASSERT_EQ(functions.size(), 3u);
  EXPECT_EQ(functions[2].software, "rxe");
  EXPECT_EQ(functions[2].parent, "ens1f0np0");
  EXPECT_EQ(functions[2].pci, "");
  EXPECT_EQ(Describe(functions[2]), "a_rxe");
}

TEST(FunctionTest, AnAdapterWithoutNetworkDeviceHasNoNameAndLinkType) {
  const node::FixtureTree tree = node::FixtureTree::Named("cx7_infiniband");
  for (const char* const address : {"pci0000:17/0000:17:00.0", "pci0000:ca/0000:ca:00.0"}) {
    tree.Remove(std::string("sys/devices/") + address + "/net");
  }
  const auto functions = FunctionsOf(node::ReadInventory(tree.root()), 0);
  EXPECT_EQ(functions[0].if_name, "");
  EXPECT_EQ(functions[0].link_type, "");
  EXPECT_EQ(functions[0].link, "InfiniBand");
}

TEST(FunctionTest, PciAddressesSortByTheirDigits) {
  EXPECT_TRUE(PciLess("0000:17:00.0", "0000:5e:00.0"));
  EXPECT_TRUE(PciLess("0000:5e:00.0", "0000:ca:00.0"));
  EXPECT_TRUE(PciLess("0000:ca:00.0", "10000:01:00.0"));
  EXPECT_FALSE(PciLess("0000:17:00.0", "0000:17:00.0"));
}

TEST(FunctionTest, TextsOfANodeCannotEndAComment) {
  EXPECT_EQ(Printable("a\nb: c\r\x01"), "a?b: c??");
  EXPECT_EQ(Printable(std::string(5000, 'x')).size(), 200u);
  node::Inventory inventory;
  EXPECT_EQ(NodeName(inventory, 2), "node 3");
  inventory.set_hostname("x\ny");
  EXPECT_EQ(NodeName(inventory, 2), "x?y");
}

}  // namespace
}  // namespace farcall::selectors
