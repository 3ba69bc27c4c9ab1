// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "tools/doctor/checks/checks.h"
#include "tools/doctor/checks/checks_testing.h"
#include "tools/doctor/checks/gids.h"

namespace farcall::doctor {
namespace {

TEST(PortTest, AnActiveOneTellsWhatItIs) {
  const node::Inventory roce = Read("cx7_roce");
  VerbsDevice opened;
  opened.mtu[1] = 4096;
  const Finding port = CheckPorts(roce, roce.devices(0), &opened, {})[0];
  EXPECT_EQ(port.verdict, Verdict::kOk);
  for (const char* text : {"ACTIVE", "RoCE", "200 Gb/sec", "MTU 4096", "9000", "28.39.1002"}) {
    EXPECT_TRUE(Says(port, text)) << text << ": " << port.finding;
  }
  const node::Inventory infiniband = Read("cx7_infiniband");
  EXPECT_TRUE(Says(CheckPorts(infiniband, infiniband.devices(0), nullptr, {})[0], "InfiniBand"));
  const node::Inventory iwarp = Read("iwarp");
  EXPECT_TRUE(Says(CheckPorts(iwarp, iwarp.devices(0), nullptr, {})[0], "iWARP"));
}

TEST(PortTest, AnMtuBelowItsInterfaceIsAmissAndASmallInterfaceAHint) {
  node::Inventory roce = Read("cx7_roce");
  VerbsDevice opened;
  opened.mtu[1] = 1024;
  EXPECT_EQ(CheckPorts(roce, roce.devices(0), &opened, {})[0].verdict, Verdict::kDegraded);
  for (node::Netdev& netdev : *roce.mutable_netdevs()) netdev.set_mtu(1500);
  const Finding small = CheckPorts(roce, roce.devices(0), &opened, {})[0];
  EXPECT_EQ(small.verdict, Verdict::kOk);
  EXPECT_TRUE(Says(small, "1024 bytes at most"));
}

TEST(PortTest, DownPorts) {
  const node::Inventory sriov = Read("sriov");
  const node::Device* const down = node::FindDevice(sriov, "mlx5_2");
  ASSERT_NE(down, nullptr);
  const Finding port = CheckPorts(sriov, *down, nullptr, {})[0];
  EXPECT_EQ(port.verdict, Verdict::kFailed);
  EXPECT_TRUE(Says(port, "no_active_port"));
  EXPECT_TRUE(Says(port, "ip link set")) << port.cure;

  node::Inventory infiniband = Read("cx7_infiniband");
  infiniband.mutable_devices(0)->mutable_ports(0)->set_state("INIT");
  EXPECT_TRUE(
      Says(CheckPorts(infiniband, infiniband.devices(0), nullptr, {})[0], "subnet manager"));

  node::Inventory iwarp = Read("iwarp");
  ASSERT_GE(iwarp.devices(0).ports_size(), 2);
  for (int i = 0; i < 2; ++i) iwarp.mutable_devices(0)->mutable_ports(i)->set_state("ACTIVE");
  iwarp.mutable_devices(0)->mutable_ports(1)->set_state("DOWN");
  EXPECT_EQ(CheckPorts(iwarp, iwarp.devices(0), nullptr, {})[1].verdict, Verdict::kDegraded)
      << "its other port is used";
  iwarp.mutable_devices(0)->mutable_ports(0)->clear_state();
  EXPECT_EQ(CheckPorts(iwarp, iwarp.devices(0), nullptr, {})[0].verdict, Verdict::kUnknown);
  iwarp.mutable_devices(0)->clear_ports();
  EXPECT_EQ(CheckPorts(iwarp, iwarp.devices(0), nullptr, {})[0].verdict, Verdict::kUnknown);
}

TEST(GidTest, TheAddressOfThisNamespaceIsUsedByRoceV2) {
  const node::Inventory roce = Read("cx7_roce");
  const std::vector<OwnAddress> own = {{"10.1.0.11", "ens1f0np0"}};
  const Finding used = CheckGids(roce, roce.devices(0), own);
  EXPECT_EQ(used.verdict, Verdict::kOk);
  EXPECT_TRUE(Says(used, "index 3, RoCE v2, 10.1.0.11")) << used.finding;
  const std::vector<GidRow> rows = JudgeGids(roce, roce.devices(0), own);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(std::count_if(rows.begin(), rows.end(), [](const GidRow& row) { return row.used; }), 1);
  EXPECT_NE(rows[0].why.find("link-local"), std::string::npos);
  EXPECT_NE(rows[2].why.find("v1"), std::string::npos);
}

TEST(GidTest, WithAddressesOfOtherNamespacesQueuePairsAreSetUpOverTcp) {
  node::Inventory roce = Read("cx7_roce");
  const std::vector<OwnAddress> own = {{"10.244.1.7", "eth0"}};
  EXPECT_EQ(CheckGids(roce, roce.devices(0), own).verdict, Verdict::kDegraded)
      << "its interface is here";
  roce.clear_netdevs();
  const Finding foreign = CheckGids(roce, roce.devices(0), own);
  EXPECT_EQ(foreign.verdict, Verdict::kOk);
  EXPECT_TRUE(Says(foreign, "set up over TCP, with index 3, RoCE v2, 10.1.0.11"))
      << foreign.finding;
  node::Device local = roce.devices(0);
  local.mutable_ports(0)->mutable_gids()->DeleteSubrange(2, 2);
  const Finding same_ethernet = CheckGids(roce, local, own);
  EXPECT_EQ(same_ethernet.verdict, Verdict::kDegraded);
  EXPECT_TRUE(Says(same_ethernet, "peers on the same Ethernet alone")) << same_ethernet.finding;
  node::Device down = roce.devices(0);
  down.mutable_ports(0)->set_state("1: DOWN");
  const Finding unused = CheckGids(roce, down, own);
  EXPECT_EQ(unused.verdict, Verdict::kFailed);
  EXPECT_TRUE(Says(unused, "its port is not active"));
  node::Device empty = roce.devices(0);
  empty.mutable_ports(0)->clear_gids();
  EXPECT_TRUE(Says(CheckGids(roce, empty, {}), "all entries are zero"));
}

TEST(GidTest, InfiniBandAndIwarpGoByTheHostsAddresses) {
  for (const auto& [fixture, interface] :
       {std::pair("cx7_infiniband", "ib0"), std::pair("iwarp", "enp59s0f4"),
        std::pair("siw", "eno1")}) {
    node::Inventory inventory = Read(fixture);
    for (node::Port& port : *inventory.mutable_devices(0)->mutable_ports()) port.clear_lid();
    const node::Device& device = inventory.devices(0);
    const std::vector<OwnAddress> own = {{"10.2.0.1", interface}};
    EXPECT_EQ(CheckGids(inventory, device, own).verdict, Verdict::kOk) << fixture;
    EXPECT_EQ(CheckGids(inventory, device, {}).verdict, Verdict::kFailed) << fixture;
    const Finding elsewhere = CheckGids(inventory, device, {{"10.2.0.1", "other0"}});
    EXPECT_EQ(elsewhere.verdict, Verdict::kFailed) << fixture;
    EXPECT_TRUE(Says(elsewhere, "no_address")) << fixture;
  }
  // As siw's device of another namespace is seen.
  const node::Inventory siw = Read("siw");
  node::Device unseen = siw.devices(0);
  unseen.clear_parent();
  unseen.clear_netdevs();
  for (node::Port& port : *unseen.mutable_ports()) port.clear_gids();
  EXPECT_EQ(CheckGids(siw, unseen, {{"10.2.0.1", "eth0"}}).verdict, Verdict::kFailed);
}

TEST(GidTest, InfiniBandGoesByIpoibOfTheSameAdapter) {
  node::Inventory inventory = Read("cx7_infiniband");
  const auto verdict = [&](int device, const char* interface) {
    return CheckGids(inventory, inventory.devices(device), {{"10.2.0.1", interface}}).verdict;
  };
  EXPECT_EQ(verdict(0, "ib0"), Verdict::kOk);
  // By its LID it is set up over TCP.
  EXPECT_EQ(verdict(0, "eno1"), Verdict::kDegraded) << "Ethernet";
  for (node::Device& device : *inventory.mutable_devices()) {
    for (node::Port& port : *device.mutable_ports()) port.clear_lid();
  }
  EXPECT_EQ(verdict(1, "ib0"), Verdict::kFailed) << "that of the other adapter";
  EXPECT_EQ(verdict(0, "eno1"), Verdict::kFailed) << "Ethernet";
  // As ipoib-cni makes it: of any name, below no PCI device.
  node::Netdev& child = *inventory.add_netdevs();
  child.set_name("net1");
  child.set_type(32);
  child.set_mac(node::FindNetdev(inventory, "ib0")->mac());
  EXPECT_EQ(verdict(0, "net1"), Verdict::kOk);
  EXPECT_EQ(verdict(1, "net1"), Verdict::kFailed);
  child.clear_mac();
  EXPECT_EQ(verdict(1, "net1"), Verdict::kOk) << "not known to be another's";
}

TEST(GidTest, RoceV1IsUsedWhereThereIsNoOther) {
  node::Inventory roce = Read("cx7_roce");
  node::Device& device = *roce.mutable_devices(0);
  for (node::Gid& gid : *device.mutable_ports(0)->mutable_gids()) gid.set_type("IB/RoCE v1");
  const std::vector<OwnAddress> own = {{"10.1.0.11", "ens1f0np0"}};
  const Finding finding = CheckGids(roce, device, own);
  EXPECT_EQ(finding.verdict, Verdict::kDegraded);
  EXPECT_TRUE(Says(finding, "RoCE v1 only: passes no router")) << finding.finding;
  EXPECT_TRUE(JudgeGids(roce, device, own)[2].used);
  EXPECT_TRUE(HasAddressHere(roce, device, own));
  EXPECT_FALSE(HasAddressHere(roce, device, {{"10.244.1.7", "eth0"}}));
}

TEST(NamespaceTest, EachVerdict) {
  node::Inventory roce = Read("cx7_roce");
  const Finding shared = CheckNamespace(roce, {{"10.1.0.11", "ens1f0np0"}});
  EXPECT_EQ(shared.verdict, Verdict::kOk);
  EXPECT_TRUE(Says(shared, "with an address here: 1"));
  roce.set_rdma_netns_mode("exclusive");
  EXPECT_EQ(CheckNamespace(roce, {}).verdict, Verdict::kOk);
  roce.clear_devices();
  EXPECT_EQ(CheckNamespace(roce, {}).verdict, Verdict::kFailed);
  EXPECT_TRUE(Says(CheckNamespace(roce, {}), "rdma dev set"));
  roce.clear_rdma_netns_mode();
  EXPECT_EQ(CheckNamespace(roce, {}).verdict, Verdict::kUnknown);
}

}  // namespace
}  // namespace farcall::doctor
