// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/checks/way.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>

#include "tools/doctor/checks/checks_testing.h"
#include "tools/doctor/dcb/dcb_testing.h"

namespace farcall::doctor {
namespace {

constexpr uint32_t kAf31 = 104;  // DSCP 26

Finding Judged(const char* answer, std::optional<uint32_t> own,
               const std::function<void(Dcb&, node::Netdev&, node::Port&)>& change = nullptr) {
  Dcb dcb = DcbNamed(answer);
  node::Netdev netdev;
  netdev.set_name("eth1");
  node::Port port;
  port.set_default_roce_tos(0);
  if (change != nullptr) change(dcb, netdev, port);
  return CheckWay("mlx5_0", WayOf(netdev, port, own, dcb));
}

TEST(WayTest, EachStepIsToldAndTheLastOneDecides) {
  struct Case {
    const char* answer;
    std::optional<uint32_t> own;
    Verdict verdict;
    const char* finding;
    const char* cure;
  };
  for (const Case& one : {
           Case{"mlx5", kAf31, Verdict::kOk,
                "trust dscp: FARCALL_TRAFFIC_CLASS 104 -> DSCP 26 -> priority 3 -> traffic class 3 "
                "(ETS 50 %) -> PFC on",
                ""},
           Case{"mlx5", 106, Verdict::kOk, "106 -> DSCP 26 -> priority 3", ""},
           Case{"mlx5", 184, Verdict::kDegraded,
                "DSCP 46 -> priority 5 -> traffic class 5 (ETS 30 %) -> PFC off, on for 3",
                "dcb app replace dev eth1 dscp-prio 46:3"},
           Case{"mlx5", std::nullopt, Verdict::kDegraded,
                "rdma_cm's default 0 -> DSCP 0 -> priority 0", "FARCALL_TRAFFIC_CLASS=104"},
           Case{"mlx5_pcp", kAf31, Verdict::kDegraded, "trust pcp",
                "mlnx_qos -i eth1 --trust dscp"},
           Case{"bnxt", kAf31, Verdict::kOk,
                "DSCP 26 -> priority 3 -> traffic class 1 (ETS 50 %) -> PFC on", ""},
           Case{"bnxt", 192, Verdict::kDegraded,
                "DSCP 48 -> priority 7 -> traffic class 2 (strict) -> PFC off, on for 3",
                "dscp-prio 48:3"},
           Case{"bnxt", 40, Verdict::kDegraded, "DSCP 10 -> priority 0 by default",
                "dcb app replace dev eth1 dscp-prio 10:3"},
           Case{"trust_list", kAf31, Verdict::kUnknown, "traffic class not readable -> PFC on",
                "dcb app show"},
           Case{"no_dcb", kAf31, Verdict::kUnknown,
                "trust not readable: FARCALL_TRAFFIC_CLASS 104 -> DSCP 26 -> priority not known -> "
                "PFC not readable; its driver, or the kernel, has no Data Center Bridging",
                "mlnx_qos -i eth1"},
       }) {
    const Finding finding = Judged(one.answer, one.own);
    EXPECT_EQ(finding.verdict, one.verdict) << one.answer << ": " << finding.finding;
    EXPECT_NE(finding.finding.find(one.finding), std::string::npos) << finding.finding;
    EXPECT_NE(finding.cure.find(one.cure), std::string::npos) << finding.cure;
    EXPECT_EQ(finding.cure.empty(), one.verdict == Verdict::kOk);
  }
}

TEST(WayTest, TrustInDscpWithPfcOffEverywhereIsNotFine) {
  const Finding finding = Judged("mlx5", kAf31, [](Dcb& dcb, node::Netdev& netdev, node::Port&) {
    dcb.pfc->on = 0;
    netdev.set_qos_trust("dscp");
  });
  EXPECT_EQ(finding.verdict, Verdict::kDegraded);
  EXPECT_TRUE(Says(finding, "PFC off for all priorities")) << finding.finding;
  EXPECT_TRUE(Says(finding, "dcb pfc set dev eth1 prio-pfc 3:on")) << finding.cure;
  // The vendor's files say on, and the kernel off.
  EXPECT_EQ(Judged("mlx5", kAf31,
                   [](Dcb& dcb, node::Netdev& netdev, node::Port&) {
                     dcb.pfc->on = 0;
                     netdev.set_qos_pfc("0,0,0,1,0,0,0,0");
                   })
                .verdict,
            Verdict::kDegraded);
}

TEST(WayTest, WithoutAnyOneStepItIsNotOk) {
  const std::function<void(Dcb&, node::Netdev&, node::Port&)> changes[] = {
      [](Dcb& dcb, auto&, auto&) { dcb.ets.reset(); },
      [](Dcb& dcb, auto&, auto&) { dcb.pfc.reset(); },
      [](Dcb& dcb, auto&, auto&) { dcb.trusts_dscp = false; },
      [](Dcb& dcb, auto&, auto&) { dcb.priority_of_dscp.clear(); },
      [](Dcb& dcb, node::Netdev& netdev, auto&) {
        dcb.priority_of_dscp.clear();
        netdev.set_qos_trust("dscp");
      },
      [](Dcb& dcb, auto&, auto&) { dcb.error = "timed out"; },
      [](Dcb& dcb, node::Netdev& netdev, auto&) {
        dcb = Dcb();
        dcb.error = "it has none";
        netdev.set_qos_trust("dscp");
        netdev.set_qos_pfc("0,0,0,1,0,0,0,0");
      },
      [](Dcb&, node::Netdev& netdev, auto&) { netdev.set_qos_trust("pcp"); },
      [](Dcb&, auto&, node::Port& port) { port.set_traffic_class("Global tclass=x7"); },
      [](Dcb&, auto&, node::Port& port) { port.set_traffic_class("Global tclass=184"); },
      [](Dcb& dcb, auto&, auto&) { dcb.roce_priority = 5; },
      [](Dcb& dcb, auto&, auto&) { dcb.ets->class_of[2] = 3; },
      [](Dcb& dcb, auto&, auto&) { dcb.ets->share[3] = 0; },
  };
  int number = 0;
  for (const auto& change : changes) {
    const Finding finding = Judged("mlx5", kAf31, change);
    EXPECT_NE(finding.verdict, Verdict::kOk) << number << ": " << finding.finding;
    EXPECT_NE(finding.cure, "") << number;
    ++number;
  }
  EXPECT_EQ(Judged("mlx5", std::nullopt,
                   [](Dcb&, node::Netdev&, node::Port& port) { port.clear_default_roce_tos(); })
                .verdict,
            Verdict::kUnknown);
}

TEST(WayTest, WhoMarks) {
  node::Port port;
  EXPECT_FALSE(MarkOf(port, std::nullopt).tos.has_value());
  EXPECT_FALSE(MarkOf(port, 0).tos.has_value()) << "0 leaves it to rdma_cm's default";
  EXPECT_EQ(MarkOf(port, kAf31).tos, kAf31);
  port.set_default_roce_tos(106);
  EXPECT_EQ(MarkOf(port, 0).tos, 106u);
  EXPECT_EQ(MarkOf(port, kAf31).tos, kAf31);
  port.set_traffic_class("Global tclass=184");
  EXPECT_EQ(MarkOf(port, kAf31).tos, 184u) << "the driver's passes over the program's";
  port.set_traffic_class("Global tclass=0");
  EXPECT_EQ(MarkOf(port, kAf31).tos, kAf31);
  port.set_traffic_class("Global tclass=256");
  EXPECT_FALSE(MarkOf(port, kAf31).tos.has_value());
}

}  // namespace
}  // namespace farcall::doctor
