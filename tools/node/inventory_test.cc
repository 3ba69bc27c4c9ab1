// SPDX-License-Identifier: Apache-2.0

#include "tools/node/inventory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tools/node/sys_files.h"
#include "tools/node/testing/fixture.h"

namespace farcall::node {
namespace {

using ::testing::ElementsAre;

Inventory Read(absl::string_view fixture) {
  const FixtureTree tree = FixtureTree::Named(fixture);
  return ReadInventory(tree.root());
}

TEST(InventoryTest, ANodeTellsItsKernelModulesAndMemory) {
  const Inventory node = Read("cx7_infiniband");
  EXPECT_EQ(node.hostname(), "ib-node-1");
  EXPECT_EQ(node.kernel(), "6.1.0-18-amd64");
  EXPECT_EQ(node.rdma_netns_mode(), "shared");
  EXPECT_THAT(node.modules(), ElementsAre("ib_core", "ib_uverbs", "ib_umad", "rdma_cm", "rdma_ucm",
                                          "ib_ipoib", "mlx5_core", "mlx5_ib"));
  ASSERT_EQ(node.huge_pages_size(), 2);
  EXPECT_EQ(node.huge_pages(0).page_bytes(), 2u << 20);
  EXPECT_EQ(node.huge_pages(0).total(), 2048u);
  EXPECT_EQ(node.allowed_cpus(), "0-31");
  EXPECT_THAT(node.allowed_numa_nodes(), ElementsAre(0, 1));
  ASSERT_EQ(node.device_nodes_size(), 5);
  EXPECT_EQ(node.device_nodes(0).name(), "rdma_cm");
  EXPECT_TRUE(node.device_nodes(0).may_open());
}

TEST(InventoryTest, AnInfinibandDeviceIsReadInFull) {
  const Inventory node = Read("cx7_infiniband");
  ASSERT_EQ(node.devices_size(), 2);
  const Device& device = node.devices(1);
  EXPECT_EQ(device.name(), "mlx5_1");
  EXPECT_FALSE(device.has_software());
  EXPECT_EQ(device.pci().address(), "0000:ca:00.0");
  EXPECT_EQ(device.pci().pci_class(), "020700");
  EXPECT_EQ(device.pci().vendor(), "15b3");
  EXPECT_EQ(device.pci().device(), "1021");
  EXPECT_EQ(device.pci().driver(), "mlx5_core");
  EXPECT_EQ(device.pci().numa_node(), 1);
  EXPECT_EQ(device.pci().link_width(), "16");
  EXPECT_EQ(device.fw_ver(), "28.39.1002");
  EXPECT_EQ(device.board_id(), "MT_0000000838");
  EXPECT_EQ(device.uverbs(), "uverbs1");
  EXPECT_EQ(device.umad(), "umad1");
  ASSERT_EQ(device.ports_size(), 1);
  const Port& port = device.ports(0);
  EXPECT_EQ(port.state(), "ACTIVE");
  EXPECT_EQ(port.phys_state(), "LinkUp");
  EXPECT_EQ(port.link_layer(), "InfiniBand");
  EXPECT_EQ(port.rate_gbps(), 400);
  EXPECT_EQ(port.lid(), 21u);
  EXPECT_EQ(port.sm_lid(), 1u);
  ASSERT_EQ(port.gids_size(), 1);
  EXPECT_EQ(port.gids(0).netdev(), "ib1");
  EXPECT_EQ(FindNetdev(node, "ib1")->type(), 32u);
}

TEST(InventoryTest, RoceHasItsGidsAndQueues) {
  const Inventory node = Read("cx7_roce");
  const Device* const device = FindDevice(node, "mlx5_0");
  ASSERT_NE(device, nullptr);
  const Port& port = device->ports(0);
  ASSERT_EQ(port.gids_size(), 4);
  EXPECT_EQ(port.gids(3).index(), 3u);
  EXPECT_EQ(port.gids(3).gid(), "0000:0000:0000:0000:0000:ffff:0a01:000b");
  EXPECT_EQ(port.gids(3).type(), "RoCE v2");
  EXPECT_NE(port.gids(2).type(), "RoCE v2");
  EXPECT_EQ(port.gids(3).netdev(), "ens1f0np0");
  EXPECT_EQ(port.default_roce_tos(), 106u);
  EXPECT_EQ(port.default_roce_mode(), "RoCE v2");
  const Netdev* const netdev = FindNetdev(node, "ens1f0np0");
  ASSERT_NE(netdev, nullptr);
  EXPECT_EQ(netdev->mtu(), 9000u);
  EXPECT_EQ(netdev->speed_mbps(), 200000);
  EXPECT_TRUE(netdev->carrier());
  EXPECT_EQ(netdev->phys_port_name(), "p0");
  EXPECT_EQ(netdev->qos_trust(), "dscp");
  EXPECT_THAT(netdev->ecn_np_priorities(), ElementsAre(3));
  EXPECT_THAT(netdev->ecn_rp_priorities(), ElementsAre(3));
  EXPECT_TRUE(FindNetdev(node, "eno1")->default_route());
  EXPECT_FALSE(netdev->default_route());
}

TEST(InventoryTest, CountersAreReadUnlessNotWanted) {
  const FixtureTree tree = FixtureTree::Named("cx7_roce");
  const Inventory node = ReadInventory(tree.root());
  const Port& port = node.devices(0).ports(0);
  EXPECT_EQ(port.counters_size(), 10);
  EXPECT_EQ(port.hw_counters_size(), 9) << "all but lifespan";
  EXPECT_EQ(port.hw_counters(0).name(), "local_ack_timeout_err");
  const Inventory without = ReadInventory(tree.root(), {.counters = false});
  EXPECT_EQ(without.devices(0).ports(0).counters_size(), 0);
  EXPECT_EQ(without.devices(0).ports(0).hw_counters_size(), 0);
}

TEST(InventoryTest, ABondIsOneDeviceWithItsMembers) {
  const Inventory node = Read("bond");
  ASSERT_EQ(node.devices_size(), 1);
  EXPECT_EQ(node.devices(0).name(), "mlx5_bond_0");
  EXPECT_EQ(node.devices(0).pci().address(), "0000:17:00.0");
  EXPECT_EQ(node.devices(0).ports(0).gids(0).netdev(), "bond0");
  const Netdev* const bond = FindNetdev(node, "bond0");
  ASSERT_NE(bond, nullptr);
  EXPECT_EQ(bond->bond_mode(), "802.3ad 4");
  EXPECT_THAT(bond->bond_members(), ElementsAre("ens1f0np0", "ens1f1np1"));
  EXPECT_FALSE(bond->has_pci());
  EXPECT_EQ(FindNetdev(node, "ens1f1np1")->master(), "bond0");
}

TEST(InventoryTest, VirtualFunctionsKnowTheirPhysicalOne) {
  const Inventory node = Read("sriov");
  ASSERT_EQ(node.devices_size(), 4) << "that of vfio-pci has no RDMA device";
  const Device& physical = node.devices(0);
  EXPECT_FALSE(IsVirtualFunction(physical));
  EXPECT_EQ(physical.pci().sriov_totalvfs(), 8u);
  EXPECT_EQ(physical.pci().sriov_numvfs(), 4u);
  const Device& third = node.devices(3);
  EXPECT_TRUE(IsVirtualFunction(third));
  EXPECT_EQ(third.pci().device(), "101e");
  EXPECT_EQ(third.pci().physfn(), "0000:17:00.0");
  EXPECT_EQ(third.pci().vf_index(), 2u);
  EXPECT_TRUE(HasActivePort(third));
  EXPECT_FALSE(HasActivePort(node.devices(2)));
}

TEST(InventoryTest, InterfacesAreADevicesByFunctionOrAddressNotByName) {
  const Inventory roce = Read("cx7_roce");
  EXPECT_TRUE(BelongsTo(*FindNetdev(roce, "ens1f0np0"), roce.devices(0)));
  EXPECT_FALSE(BelongsTo(*FindNetdev(roce, "ens1f0np0"), roce.devices(1)));
  Netdev other;
  other.set_name("ens1f0np0");  // of another network namespace
  other.set_mac("02:00:00:00:00:01");
  EXPECT_FALSE(BelongsTo(other, roce.devices(0)));
  Netdev representor = *FindNetdev(roce, "ens1f0np0");
  representor.set_phys_port_name("pf0vf1");
  EXPECT_FALSE(BelongsTo(representor, roce.devices(0)));
  const Inventory bond = Read("bond");
  EXPECT_TRUE(BelongsTo(*FindNetdev(bond, "bond0"), bond.devices(0))) << "no PCI function";
  for (const char* const software : {"rxe", "siw"}) {
    const Inventory node = Read(software);
    EXPECT_TRUE(BelongsTo(*FindNetdev(node, node.devices(0).parent()), node.devices(0)));
    EXPECT_FALSE(BelongsTo(other, node.devices(0))) << software;
  }
  const Inventory infiniband = Read("cx7_infiniband");
  EXPECT_TRUE(HasGidFrom(infiniband.devices(1).ports(0), *FindNetdev(infiniband, "ib1")));
  EXPECT_FALSE(HasGidFrom(infiniband.devices(1).ports(0), *FindNetdev(infiniband, "ib0")));
  EXPECT_FALSE(HasGidFrom(infiniband.devices(1).ports(0), Netdev()));
}

TEST(InventoryTest, IpoibIsKeptWithoutADeviceBelowIt) {
  const FixtureTree tree = FixtureTree::Named("cx7_infiniband");
  tree.Apply("[sys/class/net]\nnet1/type = 32\nveth0/type = 1\n");
  const Inventory node = ReadInventory(tree.root());
  ASSERT_NE(FindNetdev(node, "net1"), nullptr);
  EXPECT_EQ(FindNetdev(node, "net1")->type(), 32u);
  EXPECT_EQ(FindNetdev(node, "veth0"), nullptr);
}

TEST(InventoryTest, EcnThatIsOffIsNotEcnThatIsUnknown) {
  const FixtureTree tree = FixtureTree::Named("cx7_roce");
  tree.Apply("[sys/class/net/ens1f0np0/ecn]\nroce_np/enable/3 = 0\nroce_rp/enable/3 = 0\n");
  const Inventory node = ReadInventory(tree.root());
  EXPECT_EQ(FindNetdev(node, "ens1f0np0")->ecn_np_priorities_size(), 0);
  EXPECT_TRUE(FindNetdev(node, "ens1f0np0")->ecn_files());
  EXPECT_FALSE(FindNetdev(node, "eno1")->has_ecn_files());
}

TEST(InventoryTest, SoftwareDevicesHaveNoPciFunction) {
  const Inventory rxe = Read("rxe");
  ASSERT_EQ(rxe.devices_size(), 1);
  EXPECT_EQ(rxe.devices(0).software(), "rxe");
  EXPECT_EQ(rxe.devices(0).parent(), "eth0");
  EXPECT_FALSE(rxe.devices(0).has_pci());
  EXPECT_FALSE(FindNetdev(rxe, "eth0")->has_pci()) << "virtio, not PCI, is right below it";
  EXPECT_FALSE(FindNetdev(rxe, "eth0")->has_speed_mbps());
  const Inventory siw = Read("siw");
  EXPECT_EQ(siw.devices(0).software(), "siw");
  EXPECT_TRUE(IsIwarp(siw.devices(0)));
  EXPECT_FALSE(siw.devices(0).has_pci()) << "the function under it is the network device's";
  EXPECT_EQ(siw.devices(0).below().driver(), "igb");
  EXPECT_EQ(siw.devices(0).parent(), "eno1") << "by its MAC address";
}

TEST(InventoryTest, AnIwarpDeviceMayHaveTwoPortsAndNoUmad) {
  const Inventory node = Read("iwarp");
  ASSERT_EQ(node.devices_size(), 1);
  EXPECT_TRUE(IsIwarp(node.devices(0)));
  EXPECT_FALSE(node.devices(0).has_umad());
  ASSERT_EQ(node.devices(0).ports_size(), 2);
  EXPECT_TRUE(IsActive(node.devices(0).ports(0)));
  EXPECT_FALSE(IsActive(node.devices(0).ports(1)));
  EXPECT_EQ(RateGbps(node.devices(0)), 100);
}

TEST(InventoryTest, ANodeWithoutRdmaIsReadToo) {
  const Inventory node = Read("no_rdma");
  EXPECT_EQ(node.devices_size(), 0);
  EXPECT_EQ(node.modules_size(), 0);
  EXPECT_EQ(node.device_nodes_size(), 0);
  EXPECT_FALSE(node.has_rdma_netns_mode());
  EXPECT_EQ(node.netdevs_size(), 1);
  const Inventory nothing = ReadInventory("/nonexistent");
  EXPECT_EQ(nothing.ByteSizeLong(), 0u);
}

TEST(InventoryTest, MissingAndStrangeFilesAreFieldsThatAreNotSet) {
  const FixtureTree tree = FixtureTree::Named("cx7_infiniband");
  tree.Apply(
      "[sys/class/infiniband/mlx5_0]\nports/1/rate = fast\nports/1/lid = ?\nports/x/state = 1\n"
      "device/numa_node = -1\ndevice/vendor = none\n");
  tree.Remove("sys/class/infiniband/mlx5_0/device/driver");
  tree.Remove("sys/class/infiniband/mlx5_0/ports/1/state");
  const Inventory node = ReadInventory(tree.root());
  const Device& device = node.devices(0);
  EXPECT_FALSE(device.pci().has_numa_node());
  EXPECT_TRUE(device.pci().no_numa_node());
  EXPECT_FALSE(device.pci().has_vendor());
  EXPECT_FALSE(device.pci().has_driver());
  ASSERT_EQ(device.ports_size(), 1);
  EXPECT_EQ(device.ports(0).rate(), "fast");
  EXPECT_FALSE(device.ports(0).has_rate_gbps());
  EXPECT_FALSE(device.ports(0).has_lid());
  EXPECT_FALSE(device.ports(0).has_state());
  tree.Remove("sys/class/infiniband/mlx5_0/device/numa_node");
  const Inventory untold = ReadInventory(tree.root());
  EXPECT_FALSE(untold.devices(0).pci().has_numa_node());
  EXPECT_FALSE(untold.devices(0).pci().no_numa_node());
}

TEST(InventoryTest, WhatIsCutIsSaid) {
  std::string text = "[sys/class/infiniband]\n";
  for (size_t i = 0; i <= kMaxDevices; ++i) absl::StrAppend(&text, "d", i, "/fw_ver = 1\n");
  for (size_t i = 0; i <= kMaxCounters; ++i) {
    absl::StrAppend(&text, "d0/ports/1/counters/c", i, " = 1\n");
  }
  for (size_t i = 1; i <= kMaxGids + 1; ++i) {
    absl::StrAppend(&text, "d1/ports/1/gids/", i, " = fe80::", i, "\n");
  }
  const FixtureTree tree(text);
  const Inventory node = ReadInventory(tree.root());
  EXPECT_EQ(node.devices_size(), static_cast<int>(kMaxDevices));
  EXPECT_EQ(node.devices(0).ports(0).counters_size(), static_cast<int>(kMaxCounters));
  EXPECT_EQ(node.devices(1).ports(0).gids_size(), static_cast<int>(kMaxGids));
  EXPECT_EQ(node.cut_size(), 3);
}

TEST(InventoryTest, ThisMachineIsRead) {
  const Inventory node = ReadInventory();
  EXPECT_FALSE(node.kernel().empty());
  EXPECT_FALSE(node.allowed_cpus().empty());
}

}  // namespace
}  // namespace farcall::node
