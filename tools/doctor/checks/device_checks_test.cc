// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tools/doctor/checks/checks.h"
#include "tools/doctor/checks/checks_testing.h"
#include "tools/doctor/checks/gids.h"

namespace farcall::doctor {
namespace {

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
  LoopbackFacts facts{"mlx5_0", true, true, "in_use", "", 12.34, "mlx5_0"};
  EXPECT_EQ(CheckLoopback(facts).verdict, Verdict::kOk);
  EXPECT_TRUE(Says(CheckLoopback(facts), "12.3 us"));
  facts.over = "mlx5_1";
  EXPECT_EQ(CheckLoopback(facts).verdict, Verdict::kUnknown);
  EXPECT_TRUE(Says(CheckLoopback(facts), "the call went over mlx5_1"));
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
