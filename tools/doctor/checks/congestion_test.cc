// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tools/doctor/checks/checks.h"
#include "tools/doctor/checks/checks_testing.h"
#include "tools/doctor/dcb/dcb_testing.h"

namespace farcall::doctor {
namespace {

// Each interface trusts DSCP, and has PFC for priority 3.
Queues AsSetUp(const node::Inventory& inventory) {
  Queues queues;
  for (const node::Netdev& each : inventory.netdevs()) queues.dcb[each.name()] = DcbNamed("mlx5");
  return queues;
}

TEST(CongestionTest, AHostThatIsSetUp) {
  node::Inventory roce = Read("cx7_roce");
  for (node::Netdev& each : *roce.mutable_netdevs()) each.set_qos_pfc("0,0,0,1,0,0,0,0");
  const Findings findings = CheckCongestion(roce, roce.devices(0), std::nullopt, {}, AsSetUp(roce));
  EXPECT_EQ(VerdictOf(findings, "ecn"), Verdict::kOk);
  EXPECT_EQ(VerdictOf(findings, "pfc and trust"), Verdict::kOk);
  EXPECT_EQ(VerdictOf(findings, "traffic class"), Verdict::kOk);
  EXPECT_TRUE(Says(*Find(findings, "traffic class"), "106 (DSCP 26)"));
  EXPECT_EQ(Find(findings, "roce mode"), nullptr);
}

TEST(CongestionTest, WhatIsMissingOrNotReadable) {
  node::Inventory roce = Read("cx7_roce");
  for (node::Netdev& each : *roce.mutable_netdevs()) {
    each.set_qos_trust("pcp");
    each.clear_ecn_rp_priorities();
  }
  node::Device& device = *roce.mutable_devices(0);
  device.mutable_ports(0)->set_default_roce_tos(0);
  device.mutable_ports(0)->set_default_roce_mode("IB/RoCE v1");
  Findings findings = CheckCongestion(roce, device, std::nullopt, {}, {});
  for (const char* check : {"ecn", "pfc and trust", "traffic class", "roce mode"}) {
    EXPECT_EQ(VerdictOf(findings, check), Verdict::kDegraded) << check;
  }
  EXPECT_EQ(VerdictOf(CheckCongestion(roce, device, 104, {}, {}), "traffic class"), Verdict::kOk);
  // A pod with macvlan sees neither the adapter's interface nor configfs.
  roce.clear_netdevs();
  device.mutable_ports(0)->clear_default_roce_tos();
  findings = CheckCongestion(roce, device, std::nullopt, {}, {});
  for (const char* check : {"ecn", "pfc and trust", "traffic class"}) {
    EXPECT_EQ(VerdictOf(findings, check), Verdict::kUnknown) << check;
  }
}

TEST(CongestionTest, PfcThatIsOffOrWasNotReadIsNeverFine) {
  struct Case {
    const char* trust;
    const char* pfc;
    Verdict verdict;
  };
  node::Inventory roce = Read("cx7_roce");
  // What the vendor's files tell, where the kernel tells which priority a DSCP has and no more.
  Queues queues = AsSetUp(roce);
  for (auto& [name, dcb] : queues.dcb) dcb.pfc.reset();
  for (const Case& one : {
           Case{"dscp", "0,0,0,1,0,0,0,0", Verdict::kOk},
           Case{"dscp", "0 0 0 1 0 0 0 0", Verdict::kOk},
           Case{"dscp", "0x08", Verdict::kOk},
           Case{"dscp", "8", Verdict::kOk},
           Case{"", "8", Verdict::kOk},  // the kernel's entries say that it goes by DSCP
           Case{"dscp", "0,0,0,0,1,0,0,0", Verdict::kDegraded},
           Case{"dscp", "0,0,0,0,0,0,0,0", Verdict::kDegraded},
           Case{"dscp", "0x0", Verdict::kDegraded},
           Case{"", "0", Verdict::kDegraded},
           Case{"pcp", "0,0,0,1,0,0,0,0", Verdict::kDegraded},
           Case{"pcp", "", Verdict::kDegraded},
           Case{"", "", Verdict::kUnknown},
           Case{"dscp", "", Verdict::kUnknown},
           Case{"dscp", "yes", Verdict::kUnknown},
           Case{"dscp", "0,0,0,1", Verdict::kUnknown},
           Case{"dscp", "0,0,0,0,0,0,0,2", Verdict::kUnknown},
           Case{"dscp", "256", Verdict::kUnknown},
       }) {
    for (node::Netdev& each : *roce.mutable_netdevs()) {
      each.set_qos_trust(one.trust);
      each.set_qos_pfc(one.pfc);
    }
    const Findings findings = CheckCongestion(roce, roce.devices(0), 104, {}, queues);
    EXPECT_EQ(VerdictOf(findings, "pfc and trust"), one.verdict) << one.trust << " " << one.pfc;
    EXPECT_EQ(Find(findings, "pfc and trust")->cure.empty(), one.verdict == Verdict::kOk);
    const Findings alone = CheckCongestion(roce, roce.devices(0), 104, {}, {});
    EXPECT_NE(VerdictOf(alone, "pfc and trust"), Verdict::kOk) << "no priority is known";
  }
}

TEST(CongestionTest, EcnIsOfFarcallsPriority) {
  const node::Inventory roce = Read("cx7_roce");
  const auto ecn = [&](uint32_t tos, const Queues& queues) {
    return *Find(CheckCongestion(roce, roce.devices(0), tos, {}, queues), "ecn");
  };
  EXPECT_EQ(ecn(104, AsSetUp(roce)).verdict, Verdict::kOk);
  EXPECT_EQ(ecn(184, AsSetUp(roce)).verdict, Verdict::kDegraded);
  EXPECT_TRUE(Says(ecn(184, AsSetUp(roce)), "roce_np/enable/5"));
  EXPECT_EQ(ecn(104, {}).verdict, Verdict::kUnknown);
}

TEST(CongestionTest, CountersOfPrioritiesAreOfTheAdaptersInterface) {
  const node::Inventory roce = Read("cx7_roce");
  Queues queues = AsSetUp(roce);
  queues.when = "in 1 s";
  QueueCounters& moved = queues.moved["ens1f0np0"];
  AddStatistic("rx_prio3_pause", 1, moved);
  AddStatistic("rx_prio3_discards", 5, moved);
  EXPECT_EQ(VerdictOf(CheckCongestion(roce, roce.devices(0), 104, {}, queues), "priorities"),
            Verdict::kDegraded);
  EXPECT_EQ(Find(CheckCongestion(roce, roce.devices(1), 104, {}, queues), "priorities"), nullptr);
  const std::vector<QueueOf> all = QueuesOf(roce, 104, {}, queues.dcb);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].device, "mlx5_0");
  EXPECT_EQ(all[0].interface, "ens1f0np0");
  EXPECT_EQ(all[0].priority, 3u);
  EXPECT_FALSE(QueuesOf(roce, 104, {}, {})[0].priority.has_value());
  EXPECT_TRUE(QueuesOf(Read("iwarp"), 104, {}, {}).empty());
  EXPECT_TRUE(QueuesOf(Read("rxe"), 104, {}, {}).empty()) << "its queues are its interface's";
}

TEST(CongestionTest, ATrafficClassOfTheDriverMarksUnlessItIsZero) {
  node::Inventory roce = Read("cx7_roce");
  node::Device& device = *roce.mutable_devices(0);
  device.mutable_ports(0)->set_default_roce_tos(0);
  device.mutable_ports(0)->set_traffic_class("Global tclass=106");
  const auto verdict = [&] {
    return VerdictOf(CheckCongestion(roce, device, std::nullopt, {}, {}), "traffic class");
  };
  EXPECT_EQ(verdict(), Verdict::kOk);
  device.mutable_ports(0)->set_traffic_class("Global tclass=0");
  EXPECT_EQ(verdict(), Verdict::kDegraded);
}

TEST(CongestionTest, OffEverywhereIsNotUnknown) {
  node::Inventory roce = Read("cx7_roce");
  for (node::Netdev& each : *roce.mutable_netdevs()) {
    each.clear_ecn_np_priorities();
    each.clear_ecn_rp_priorities();
  }
  const auto ecn = [&] {
    return *Find(CheckCongestion(roce, roce.devices(0), std::nullopt, {}, {}), "ecn");
  };
  EXPECT_EQ(ecn().verdict, Verdict::kDegraded);
  EXPECT_TRUE(Says(ecn(), "roce_np/enable/3"));
  for (node::Netdev& each : *roce.mutable_netdevs()) each.clear_ecn_files();
  EXPECT_EQ(ecn().verdict, Verdict::kUnknown);
  roce.clear_netdevs();
  EXPECT_EQ(ecn().verdict, Verdict::kUnknown);
  EXPECT_EQ(ecn().cure, "") << "there is no interface to name";
}

TEST(CongestionTest, ABondsMemberHasTheSettings) {
  node::Inventory bond = Read("bond");
  for (node::Netdev& each : *bond.mutable_netdevs()) {
    if (each.name() == "ens1f0np0") each.set_qos_trust("pcp");
  }
  const Findings findings =
      CheckCongestion(bond, bond.devices(0), 104, {{"10.1.0.31", "bond0"}}, {});
  const Finding* const trust = Find(findings, "pfc and trust");
  ASSERT_NE(trust, nullptr);
  EXPECT_EQ(trust->verdict, Verdict::kDegraded);
  EXPECT_TRUE(Says(*trust, "of ens1f0np0 in bond0")) << trust->finding;
  EXPECT_TRUE(Says(*trust, "mlnx_qos -i ens1f0np0")) << trust->cure;
}

TEST(CongestionTest, NothingForInfiniBandAndIwarp) {
  for (const char* fixture : {"cx7_infiniband", "iwarp"}) {
    const node::Inventory inventory = Read(fixture);
    EXPECT_TRUE(CheckCongestion(inventory, inventory.devices(0), std::nullopt, {}, {}).empty());
  }
}

}  // namespace
}  // namespace farcall::doctor
