// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tools/doctor/checks/checks.h"
#include "tools/doctor/checks/checks_testing.h"
#include "tools/doctor/checks/gids.h"
#include "tools/doctor/checks/rdma_namespace.h"

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
  for (const char* fixture : {"cx7_infiniband", "iwarp", "siw"}) {
    node::Inventory inventory = Read(fixture);
    for (node::Port& port : *inventory.mutable_devices(0)->mutable_ports()) port.clear_lid();
    const node::Device& device = inventory.devices(0);
    const std::vector<OwnAddress> own = {{"10.2.0.1", node::NetdevOf(device)}};
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

TEST(PciTest, ASlotThatIsTooNarrowForThePort) {
  node::Device device = Read("cx7_roce").devices(0);
  EXPECT_EQ(CheckPci(device)[0].verdict, Verdict::kOk);
  device.mutable_pci()->set_link_width("8");
  EXPECT_EQ(CheckPci(device)[0].verdict, Verdict::kOk) << "250 Gb/s of 200";
  EXPECT_TRUE(Says(CheckPci(device)[0], "it can 32.0 GT/s PCIe x16"));
  device.mutable_pci()->set_link_width("4");
  EXPECT_EQ(CheckPci(device)[0].verdict, Verdict::kDegraded);
  device.mutable_pci()->set_link_width("16");
  device.mutable_pci()->set_link_speed("5.0 GT/s PCIe");
  EXPECT_EQ(CheckPci(device)[0].verdict, Verdict::kDegraded);
  device.mutable_pci()->set_link_speed("16.0 GT/s PCIe");
  device.mutable_ports(0)->clear_rate_gbps();
  EXPECT_EQ(CheckPci(device)[0].verdict, Verdict::kDegraded) << "whether it suffices is not known";
  EXPECT_TRUE(CheckPci(Read("rxe").devices(0)).empty()) << "a software device";
}

TEST(PciTest, WhatItCanMustBeToldWhereTheLinkMayNotSuffice) {
  const node::Device whole = Read("cx7_roce").devices(0);
  const auto without = [&](const char* width, const auto& clear) {
    node::Device device = whole;
    device.mutable_pci()->set_link_width(width);
    clear(*device.mutable_pci());
    return CheckPci(device)[0].verdict;
  };
  const auto speed = [](node::Pci& pci) { pci.clear_max_link_speed(); };
  const auto width = [](node::Pci& pci) { pci.clear_max_link_width(); };
  const auto own = [](node::Pci& pci) { pci.clear_link_width(); };
  EXPECT_EQ(without("16", speed), Verdict::kOk) << "it suffices for the port's rate";
  EXPECT_EQ(without("16", width), Verdict::kOk);
  EXPECT_EQ(without("4", width), Verdict::kUnknown);
  EXPECT_EQ(without("4", own), Verdict::kUnknown);
  EXPECT_EQ(without("4", speed), Verdict::kDegraded) << "it is narrower than it can";
}

TEST(PciTest, VirtualFunctionsHaveNoLinkOfTheirOwn) {
  const node::Inventory sriov = Read("sriov");
  EXPECT_EQ(sriov.devices(1).pci().link_speed(), "Unknown");
  EXPECT_EQ(CheckPci(sriov.devices(0)).size(), 1u);
  EXPECT_TRUE(CheckPci(sriov.devices(1)).empty());
  // As a machine sees one that was given to it.
  node::Device alone = sriov.devices(1);
  alone.mutable_pci()->clear_physfn();
  EXPECT_TRUE(CheckPci(alone).empty());
}

TEST(NumaTest, EachVerdict) {
  node::Inventory inventory = Read("cx7_infiniband");
  const node::Device& device = inventory.devices(1);
  const int node = device.pci().numa_node();
  inventory.clear_allowed_numa_nodes();
  EXPECT_EQ(CheckNuma(inventory, device)[0].verdict, Verdict::kUnknown);
  inventory.add_allowed_numa_nodes(node + 1);
  EXPECT_EQ(CheckNuma(inventory, device)[0].verdict, Verdict::kDegraded);
  inventory.add_allowed_numa_nodes(node);
  EXPECT_EQ(CheckNuma(inventory, device)[0].verdict, Verdict::kOk);
  EXPECT_EQ(CheckNuma(inventory, Read("rxe").devices(0))[0].verdict, Verdict::kOk);
  node::Device unread = device;
  unread.mutable_pci()->clear_numa_node();
  EXPECT_EQ(CheckNuma(inventory, unread)[0].verdict, Verdict::kUnknown);
  unread.mutable_pci()->set_no_numa_node(true);
  EXPECT_EQ(CheckNuma(inventory, unread)[0].verdict, Verdict::kOk) << "the kernel says so";
}

TEST(CapabilitiesTest, EachVerdict) {
  VerbsDevice device;
  device.name = "mlx5_0";
  device.max_srq = 1000;
  device.max_qp = 1000;
  device.max_cqe = 1 << 22;
  device.max_inline = 220;
  device.relaxed_ordering = true;
  EXPECT_EQ(CheckCapabilities(device, false).verdict, Verdict::kOk);
  EXPECT_TRUE(Says(CheckCapabilities(device, false), "220 bytes"));
  EXPECT_TRUE(Says(CheckCapabilities(device, false), "no memory windows"));
  device.windows = true;
  EXPECT_FALSE(Says(CheckCapabilities(device, false), "no memory windows"));
  device.relaxed_ordering = false;
  EXPECT_EQ(CheckCapabilities(device, false).verdict, Verdict::kDegraded);
  EXPECT_EQ(CheckCapabilities(device, true).verdict, Verdict::kOk) << "no PCI device";
  device.max_srq = 0;
  EXPECT_TRUE(Says(CheckCapabilities(device, true), "no shared receive queues"));
  EXPECT_FALSE(Says(CheckCapabilities(device, true), "setpci")) << "the cure of another lack";
  EXPECT_TRUE(Says(CheckCapabilities(device, false), "setpci"));
  device.relaxed_ordering = true;
  device.max_srq = 1000;
  device.max_cqe = 16;
  EXPECT_TRUE(Says(CheckCapabilities(device, false), "more event loops"));
  EXPECT_FALSE(Says(CheckCapabilities(device, false), "setpci"));
  device.error = "Permission denied";
  EXPECT_EQ(CheckCapabilities(device, false).verdict, Verdict::kUnknown);
}

TEST(InterfaceTest, OneOfAnotherNamespaceWithTheSameNameIsNone) {
  node::Inventory roce = Read("cx7_roce");
  // A pod: the adapter's interface is on the host, and another has its name.
  roce.clear_netdevs();
  node::Netdev& other = *roce.add_netdevs();
  other.set_name("ens1f0np0");
  other.set_mac("02:00:00:00:00:01");
  other.set_mtu(1400);
  const node::Device& device = roce.devices(0);
  VerbsDevice opened;
  opened.mtu[1] = 512;
  EXPECT_FALSE(Says(CheckPorts(roce, device, &opened, {})[0], "1400"));
  EXPECT_EQ(VerdictOf(CheckCongestion(roce, device, 104, {}, {}), "ecn"), Verdict::kUnknown);
  node::Inventory iwarp = Read("iwarp");
  for (node::Netdev& each : *iwarp.mutable_netdevs()) {
    each.set_mac("02:00:00:00:00:02");
    each.clear_pci();
  }
  const std::vector<OwnAddress> own = {{"10.1.0.1", "enp59s0f4"}};
  EXPECT_EQ(CheckGids(iwarp, iwarp.devices(0), own).verdict, Verdict::kFailed);
}

TEST(InterfaceTest, TheOneOfTheUsedEntryComesFirst) {
  node::Inventory roce = Read("cx7_roce");
  // A macvlan of a pod: its address is in the table of the adapter, its own MTU counts.
  node::Netdev& macvlan = *roce.add_netdevs();
  macvlan.set_name("net1");
  macvlan.set_mac("02:00:00:00:00:01");
  macvlan.set_mtu(1500);
  const std::vector<OwnAddress> own = {{"10.1.0.11", "net1"}};
  const node::Device& device = roce.devices(0);
  EXPECT_TRUE(Says(CheckPorts(roce, device, nullptr, own)[0], "MTU of net1 1500"));
  EXPECT_TRUE(Says(*Find(CheckCongestion(roce, device, 104, own, {}), "ecn"), "priorities 3"))
      << "the settings are the adapter's";
}

TEST(CountersTest, EachVerdict) {
  const node::Device before = Read("cx7_roce").devices(0);
  EXPECT_EQ(CheckCounters(before, before, 1)[0].verdict, Verdict::kOk);
  EXPECT_TRUE(Says(CheckCounters(before, before, 1)[0], "link_downed 1"));
  node::Device after = before;
  for (node::Counter& counter : *after.mutable_ports(0)->mutable_hw_counters()) {
    if (counter.name() == "out_of_sequence") counter.set_value(counter.value() + 5);
    if (counter.name() == "rp_cnp_handled") counter.set_value(counter.value() + 9);
  }
  const Findings moved = CheckCounters(before, after, 2);
  ASSERT_EQ(moved.size(), 2u) << "losses and congestion have different cures";
  EXPECT_EQ(moved[0].verdict, Verdict::kDegraded);
  EXPECT_TRUE(Says(moved[0], "out_of_sequence +5"));
  EXPECT_TRUE(Says(moved[1], "rp_cnp_handled +9"));
  EXPECT_EQ(moved[1].verdict, Verdict::kOk) << "congestion that is told is how it is to be";
  EXPECT_FALSE(moved[1].meaning.empty());
  node::Device silent = before;
  silent.mutable_ports(0)->clear_hw_counters();
  silent.mutable_ports(0)->clear_counters();
  silent.clear_hw_counters();
  EXPECT_EQ(CheckCounters(silent, silent, 1)[0].verdict, Verdict::kUnknown);
  EXPECT_TRUE(Says(CheckCounters(silent, silent, 1)[0], "no counter"));
  node::Device strange = silent;
  strange.add_hw_counters()->set_name("frobs");
  EXPECT_EQ(CheckCounters(strange, strange, 1)[0].verdict, Verdict::kUnknown);
  EXPECT_TRUE(Says(CheckCounters(strange, strange, 1)[0], "counters here: 1, none known"));
}

TEST(CountersTest, OtherDriversNames) {
  for (const char* name : {"to_retransmits", "tcpRetransSegs"}) {
    node::Device before;
    before.add_hw_counters()->set_name(name);
    node::Device after = before;
    after.mutable_hw_counters(0)->set_value(3);
    EXPECT_EQ(CheckCounters(before, after, 1)[0].verdict, Verdict::kDegraded) << name;
  }
}

TEST(LoopbackTest, EachVerdict) {
  LoopbackFacts facts{"mlx5_0", true, true, "in_use", "", 12.34};
  EXPECT_EQ(CheckLoopback(facts).verdict, Verdict::kOk);
  EXPECT_TRUE(Says(CheckLoopback(facts), "12.3 us"));
  facts.reason = "timed_out";
  EXPECT_EQ(CheckLoopback(facts).verdict, Verdict::kDegraded);
  EXPECT_TRUE(Says(CheckLoopback(facts), "timed_out"));
  facts.answered = false;
  EXPECT_EQ(CheckLoopback(facts).verdict, Verdict::kDegraded);
  EXPECT_TRUE(Says(CheckLoopback(facts), "answered in time"));
  facts.tried = false;
  facts.detail = "time was up";
  EXPECT_EQ(CheckLoopback(facts).verdict, Verdict::kUnknown);
  EXPECT_TRUE(Says(CheckLoopback(facts), "not pinged: time was up"));
}

}  // namespace
}  // namespace farcall::doctor
