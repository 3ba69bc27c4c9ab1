// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tools/doctor/checks/checks.h"
#include "tools/doctor/checks/checks_testing.h"

namespace farcall::doctor {
namespace {

TEST(CongestionTest, AHostThatIsSetUp) {
  node::Inventory roce = Read("cx7_roce");
  for (node::Netdev& each : *roce.mutable_netdevs()) each.set_qos_pfc("0,0,0,1,0,0,0,0");
  const Findings findings = CheckCongestion(roce, roce.devices(0), std::nullopt, {});
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
  Findings findings = CheckCongestion(roce, device, std::nullopt, {});
  for (const char* check : {"ecn", "pfc and trust", "traffic class", "roce mode"}) {
    EXPECT_EQ(VerdictOf(findings, check), Verdict::kDegraded) << check;
  }
  EXPECT_EQ(VerdictOf(CheckCongestion(roce, device, 104, {}), "traffic class"), Verdict::kOk);
  // A pod with macvlan sees neither the adapter's interface nor configfs.
  roce.clear_netdevs();
  device.mutable_ports(0)->clear_default_roce_tos();
  findings = CheckCongestion(roce, device, std::nullopt, {});
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
  for (const Case& one : {
           Case{"dscp", "0,0,0,1,0,0,0,0", Verdict::kOk},
           Case{"dscp", "0 0 0 1 0 0 0 0", Verdict::kOk},
           Case{"dscp", "0x08", Verdict::kOk},
           Case{"dscp", "8", Verdict::kOk},
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
           Case{"", "0,0,0,1,0,0,0,0", Verdict::kUnknown},
       }) {
    for (node::Netdev& each : *roce.mutable_netdevs()) {
      each.set_qos_trust(one.trust);
      each.set_qos_pfc(one.pfc);
    }
    const Findings findings = CheckCongestion(roce, roce.devices(0), 104, {});
    EXPECT_EQ(VerdictOf(findings, "pfc and trust"), one.verdict) << one.trust << " " << one.pfc;
    EXPECT_EQ(Find(findings, "pfc and trust")->cure.empty(), one.verdict == Verdict::kOk);
  }
}

TEST(CongestionTest, ATrafficClassOfTheDriverMarksUnlessItIsZero) {
  node::Inventory roce = Read("cx7_roce");
  node::Device& device = *roce.mutable_devices(0);
  device.mutable_ports(0)->set_default_roce_tos(0);
  device.mutable_ports(0)->set_traffic_class("Global tclass=106");
  const auto verdict = [&] {
    return VerdictOf(CheckCongestion(roce, device, std::nullopt, {}), "traffic class");
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
    return *Find(CheckCongestion(roce, roce.devices(0), std::nullopt, {}), "ecn");
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
  const Findings findings = CheckCongestion(bond, bond.devices(0), 104, {{"10.1.0.31", "bond0"}});
  const Finding* const trust = Find(findings, "pfc and trust");
  ASSERT_NE(trust, nullptr);
  EXPECT_EQ(trust->verdict, Verdict::kDegraded);
  EXPECT_TRUE(Says(*trust, "of ens1f0np0 in bond0")) << trust->finding;
  EXPECT_TRUE(Says(*trust, "mlnx_qos -i ens1f0np0")) << trust->cure;
}

TEST(CongestionTest, NothingForInfiniBandAndIwarp) {
  for (const char* fixture : {"cx7_infiniband", "iwarp"}) {
    const node::Inventory inventory = Read(fixture);
    EXPECT_TRUE(CheckCongestion(inventory, inventory.devices(0), std::nullopt, {}).empty());
  }
}

}  // namespace
}  // namespace farcall::doctor
