// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/diagnose.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "tools/doctor/report_text.h"
#include "tools/node/testing/fixture.h"

namespace farcall::doctor {
namespace {

// A host on which nothing is amiss beside what the fixture has.
Facts HostWith(const char* fixture, std::vector<OwnAddress> own) {
  Facts facts;
  facts.now = facts.before = node::ReadInventory(node::FixtureTree::Named(fixture).root());
  facts.seconds = 1;
  facts.library.providers = {"libmlx5-rdmav34.so", "librxe-rdmav34.so", "libsiw-rdmav34.so"};
  facts.files.directory = facts.files.channel_tried = true;
  facts.files.rdma_cm.path = "/dev/infiniband/rdma_cm";
  facts.memory.soft_limit = MemoryFacts::kNoLimit;
  facts.fork = ForkSafety::kUnneeded;
  facts.own = std::move(own);
  facts.verdict = {"in_use", ""};
  for (const node::Device& device : facts.now.devices()) {
    facts.files.uverbs_of[device.name()] = device.uverbs();
    facts.files.uverbs.push_back({"/dev/infiniband/" + device.uverbs(), 0, "0666 root root"});
    VerbsDevice opened;
    opened.name = device.name();
    opened.max_srq = opened.max_qp = 1000;
    opened.max_cqe = 1 << 22;
    facts.devices.push_back(opened);
  }
  return facts;
}

const Finding* Find(const Report& report, const std::string& check, const std::string& subject) {
  for (const Finding& finding : report.findings) {
    if (finding.check == check && finding.subject == subject) return &finding;
  }
  return nullptr;
}

TEST(DiagnoseTest, AHostThatIsReady) {
  const Facts facts =
      HostWith("cx7_roce", {{"10.1.0.11", "ens1f0np0"}, {"10.1.1.11", "ens1f1np1"}});
  const Report report = Diagnose(facts);
  EXPECT_EQ(report.code, kReady) << ToText(report, true);
  EXPECT_TRUE(report.next.empty());
  EXPECT_EQ(report.gids.size(), 8u);
  EXPECT_EQ(UsableHere(facts), (std::vector<std::string>{"mlx5_0", "mlx5_1"}));
}

TEST(DiagnoseTest, WhatSettingsLeaveOutIsNotUsableAndIsNotForeign) {
  Facts facts = HostWith("cx7_roce", {{"10.1.0.11", "ens1f0np0"}, {"10.1.1.11", "ens1f1np1"}});
  facts.settings.devices = {"mlx5_1"};
  EXPECT_EQ(UsableHere(facts), (std::vector<std::string>{"mlx5_1"}));
  EXPECT_NE(Find(Diagnose(facts), "gid", "mlx5_0"), nullptr);
}

TEST(DiagnoseTest, EachFixtureWithRdmaIsReadyWhereItsAddressesAreHere) {
  EXPECT_EQ(Diagnose(HostWith("cx7_infiniband", {{"10.2.0.1", "ib0"}, {"10.2.0.2", "ib1"}})).code,
            kReady);
  EXPECT_EQ(Diagnose(HostWith("rxe", {{"10.0.2.15", "eth0"}})).code, kReady);
  EXPECT_EQ(Diagnose(HostWith("siw", {{"10.0.2.15", "eno1"}})).code, kReady);
}

TEST(DiagnoseTest, AHostWithoutRdma) {
  Facts facts = HostWith("no_rdma", {{"10.0.0.5", "eno1"}});
  facts.verdict = {"no_device", "nothing in /sys/class/infiniband"};
  facts.files.directory = false;
  facts.files.rdma_cm.error = ENOENT;
  const Report report = Diagnose(facts);
  EXPECT_EQ(report.code, kNoRdma);
  EXPECT_NE(report.summary.find("no RDMA (no_device)"), std::string::npos) << report.summary;
  EXPECT_FALSE(report.next.empty());
}

TEST(DiagnoseTest, WhatTheHostLacksKeepsEachDeviceFromIt) {
  Facts facts = HostWith("cx7_roce", {{"10.1.0.11", "ens1f0np0"}});
  facts.memory.soft_limit = 64 << 10;
  const Report report = Diagnose(facts);
  EXPECT_EQ(report.code, kNoRdma);
  EXPECT_NE(report.summary.find("memlock"), std::string::npos) << report.summary;
  EXPECT_NE(report.next[0].find("LimitMEMLOCK"), std::string::npos);
}

TEST(DiagnoseTest, InAPodTheHostsOtherDevicesArePassedOver) {
  Facts facts = HostWith("cx7_roce", {{"10.1.0.11", "net1"}});
  facts.files.uverbs.pop_back();  // mlx5_1 was not given to it
  Report report = Diagnose(facts);
  EXPECT_EQ(report.code, kReady) << ToText(report, true);
  ASSERT_NE(Find(report, "device", "mlx5_1"), nullptr);
  EXPECT_EQ(Find(report, "port", "mlx5_1"), nullptr);
  // With an address of none of them, and no interface, queue pairs are set up over TCP.
  facts.own = {{"10.244.1.7", "eth0"}};
  facts.now.clear_netdevs();
  report = Diagnose(facts);
  EXPECT_EQ(report.code, kReady) << ToText(report, true);
  ASSERT_NE(Find(report, "gid", "mlx5_0"), nullptr);
  EXPECT_NE(Find(report, "gid", "mlx5_0")->finding.find("over TCP"), std::string::npos);
  EXPECT_EQ(UsableHere(facts), (std::vector<std::string>{"mlx5_0"}));
}

TEST(DiagnoseTest, ARailThatLostItsAddressIsNotPassedOver) {
  Report report = Diagnose(HostWith("cx7_roce", {{"10.1.0.11", "ens1f0np0"}}));
  EXPECT_EQ(report.code, kDegraded) << ToText(report, true);
  ASSERT_NE(Find(report, "gid", "mlx5_1"), nullptr);
  EXPECT_EQ(Find(report, "gid", "mlx5_1")->verdict, Verdict::kDegraded);
  report = Diagnose(HostWith("cx7_infiniband", {{"10.2.0.1", "ib0"}}));
  EXPECT_EQ(report.code, kDegraded) << ToText(report, true);
  // In a pod that has the files of all, the interface lies elsewhere.
  Facts pod = HostWith("cx7_roce", {{"10.1.0.11", "net1"}});
  pod.now.clear_netdevs();
  report = Diagnose(pod);
  EXPECT_EQ(report.code, kReady) << ToText(report, true);
  EXPECT_NE(Find(report, "device", "mlx5_1"), nullptr);
}

TEST(DiagnoseTest, VirtualFunctionsThatWaitOnTheHostArePassedOver) {
  const Facts facts = HostWith("sriov", {{"10.1.0.41", "ens1f0np0"}});
  const Report report = Diagnose(facts);
  EXPECT_NE(Find(report, "device", "mlx5_1"), nullptr) << ToText(report, true);
  EXPECT_EQ(Find(report, "gid", "mlx5_1"), nullptr);
}

TEST(DiagnoseTest, AVirtualFunctionIsNotDegradedByRegistersThatItLacks) {
  Facts facts = HostWith("sriov", {{"10.1.0.42", "ens1f0v0"}});
  const node::Device function = *node::FindDevice(facts.now, "mlx5_1");
  facts.now.clear_devices();
  *facts.now.add_devices() = function;
  node::Gid& gid = *facts.now.mutable_devices(0)->mutable_ports(0)->add_gids();
  gid.set_index(3);
  gid.set_gid("0000:0000:0000:0000:0000:ffff:0a01:002a");
  gid.set_type("RoCE v2");
  facts.before = facts.now;
  facts.settings.traffic_class = 104;
  for (VerbsDevice& opened : facts.devices) opened.relaxed_ordering = false;
  const Report report = Diagnose(facts);
  EXPECT_EQ(report.code, kReady) << ToText(report, true);
  EXPECT_EQ(Find(report, "pci", "mlx5_1"), nullptr);
}

TEST(DiagnoseTest, InfiniBandWithoutIpoibHasItsLid) {
  Facts facts = HostWith("cx7_infiniband", {{"10.244.1.7", "eth0"}});
  facts.now.clear_netdevs();
  EXPECT_EQ(Diagnose(facts).code, kReady) << ToText(Diagnose(facts), true);
  // No subnet manager has given it one.
  for (node::Device& device : *facts.now.mutable_devices()) {
    for (node::Port& port : *device.mutable_ports()) port.clear_lid();
  }
  const Report report = Diagnose(facts);
  EXPECT_EQ(report.code, kNoRdma) << ToText(report, true);
  EXPECT_NE(report.summary.find("IPoIB"), std::string::npos) << report.summary;
  EXPECT_TRUE(UsableHere(facts).empty());
}

TEST(DiagnoseTest, WhereNoLoopbackWentOverRdmaTheLibrarysWordIsNotAll) {
  Facts facts = HostWith("rxe", {{"10.0.2.15", "eth0"}});
  LoopbackFacts loopback;
  loopback.device = "rxe0";
  loopback.answered = true;
  loopback.reason = "timed_out";
  facts.loopbacks = {loopback};
  Report report = Diagnose(facts);
  EXPECT_EQ(report.code, kDegraded);
  EXPECT_NE(report.summary.find("no call of this process to itself went over it"),
            std::string::npos)
      << report.summary;
  ASSERT_FALSE(report.next.empty());
  EXPECT_NE(report.next[0].find("timed_out"), std::string::npos) << report.next[0];
  facts.loopbacks[0].reason = "in_use";
  facts.loopbacks[0].over = "rxe0";
  EXPECT_EQ(Diagnose(facts).code, kReady);
  // A cause that keeps the host from RDMA comes before what follows from it.
  facts.loopbacks[0].reason = "memlock";
  facts.memory.soft_limit = 64 << 10;
  report = Diagnose(facts);
  EXPECT_EQ(report.code, kNoRdma);
  EXPECT_NE(report.next[0].find("LimitMEMLOCK"), std::string::npos) << report.next[0];
}

TEST(DiagnoseTest, FilesOfDevicesOfOtherNamespacesAreNoFailures) {
  Facts facts = HostWith("rxe", {{"10.0.2.15", "eth0"}});
  facts.now.set_rdma_netns_mode("exclusive");
  facts.files.uverbs_of["mlx5_0"] = "uverbs7";
  Report report = Diagnose(facts);
  EXPECT_EQ(report.code, kReady) << ToText(report, true);
  EXPECT_EQ(Find(report, "device files", "mlx5_0"), nullptr);
  facts.now.clear_devices();
  EXPECT_EQ(Find(Diagnose(facts), "device files", "mlx5_0"), nullptr);
  // Shared, and none to be seen: what the host has is all that is known.
  facts.now.set_rdma_netns_mode("shared");
  report = Diagnose(facts);
  ASSERT_NE(Find(report, "device files", "mlx5_0"), nullptr);
  EXPECT_EQ(Find(report, "device files", "mlx5_0")->verdict, Verdict::kFailed);
}

TEST(DiagnoseTest, WhatTheLibraryDoesNotTakeOrTellIsNeverReady) {
  Facts facts = HostWith("rxe", {{"10.0.2.15", "eth0"}});
  facts.settings.error = "FARCALL_TRAFFIC_CLASS is \"x\"";
  Report report = Diagnose(facts);
  EXPECT_EQ(report.code, kNoRdma);
  EXPECT_NE(report.summary.find("FARCALL_TRAFFIC_CLASS"), std::string::npos) << report.summary;
  facts.verdict = {LibraryVerdict::kNotTold, facts.settings.error};
  report = Diagnose(facts);
  EXPECT_EQ(report.summary.find("no RDMA (not_told): settings: "), 0u) << report.summary;
  EXPECT_NE(report.next[0].find("docs/settings.md"), std::string::npos) << report.next[0];
  facts.settings.error.clear();
  facts.verdict = {LibraryVerdict::kNotTold, "too many open files"};
  report = Diagnose(facts);
  EXPECT_EQ(report.code, kNoRdma);
  EXPECT_NE(report.summary.find("too many open files"), std::string::npos) << report.summary;
  ASSERT_FALSE(report.next.empty());
  EXPECT_EQ(report.next[0].find("docs/why-is-rdma-off.md"), std::string::npos);
}

TEST(DiagnoseTest, APortThatIsDownBesideOneThatIsNotDegrades) {
  const Report report = Diagnose(HostWith("sriov", {{"10.1.0.41", "ens1f0np0"}}));
  EXPECT_EQ(report.code, kDegraded) << ToText(report, true);
  ASSERT_NE(Find(report, "port", "mlx5_2"), nullptr);
}

TEST(DiagnoseTest, ThePeersFindingsCount) {
  Report report = Diagnose(HostWith("rxe", {{"10.0.2.15", "eth0"}}));
  EXPECT_EQ(report.code, kReady);
  AddFindings({PeerNotReached("host2", absl::UnavailableError("nobody there"))}, report);
  EXPECT_EQ(report.code, kDegraded);
  EXPECT_NE(report.next[0].find("doctor --serve"), std::string::npos);
}

TEST(DiagnoseTest, APeerIsNoDeviceThatWorks) {
  Facts facts = HostWith("rxe", {{"10.0.2.15", "eth0"}});
  facts.now.mutable_devices(0)->mutable_ports(0)->set_state("DOWN");
  Report report = Diagnose(facts);
  EXPECT_EQ(report.code, kNoRdma);
  Comparison fine;
  fine.host = "host2";
  fine.reason = "in_use";
  AddFindings(CheckComparison(fine), report);
  EXPECT_EQ(report.code, kNoRdma) << report.summary;
}

TEST(ReportTest, TextBeginsWithTheSummaryAndSaysWhatToDo) {
  Facts facts = HostWith("no_rdma", {});
  facts.verdict = {"no_device", "nothing"};
  const std::string text = ToText(Diagnose(facts), false);
  EXPECT_EQ(text.find("no RDMA (no_device)"), 0u) << text;
  EXPECT_NE(text.find("\nwhat to do next:\n  1. "), std::string::npos) << text;
  EXPECT_NE(text.find("\nfailed  "), std::string::npos) << text;
}

TEST(ReportTest, MeaningsOfWhatIsFineAreForThoseWhoAsk) {
  const Report report = Diagnose(HostWith("rxe", {{"10.0.2.15", "eth0"}}));
  EXPECT_EQ(ToText(report, false).find("means:"), std::string::npos);
  EXPECT_NE(ToText(report, true).find("means:"), std::string::npos);
}

TEST(ReportTest, TheGidTableAndThePeersTableAreAligned) {
  Report report = Diagnose(HostWith("rxe", {{"10.0.2.15", "eth0"}}));
  Comparison peer;
  peer.host = "host2";
  peer.reason = "in_use";
  peer.rows = {{"raw verbs", "rxe0", "", 7.8, 9.1, 180e6},
               {"farcall over rdma", "rxe0", "", 20, 31, 150e6},
               {"farcall over tcp", "sockets", "no answer", 0, 0, 0}};
  report.peer = peer;
  const std::string text = ToText(report, false);
  EXPECT_NE(text.find("yes: the address of eth0 here"), std::string::npos) << text;
  EXPECT_NE(text.find("\nraw verbs          rxe0       7.80    9.10   180\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("farcall over tcp: no answer"), std::string::npos) << text;
}

TEST(ReportTest, JsonHasTheSame) {
  Facts facts = HostWith("rxe", {{"10.0.2.15", "eth0"}});
  Report report = Diagnose(facts);
  report.peer = Comparison{"host2", "ready", "in_use", "", {{"raw verbs", "rxe0", "", 1, 2, 3}}};
  const std::string json = ToJson(report, "{\"hostname\":\"x\"}");
  for (const char* text : {"\"status\":\"ready\"", "\"reason\":\"in_use\"", "\"check\":\"memlock\"",
                           "\"verdict\":\"ok\"", "\"used\":true", "\"peer\":{\"host\":\"host2\"",
                           "\"inventory\":{\"hostname\":\"x\"}}"}) {
    EXPECT_NE(json.find(text), std::string::npos) << text << " in " << json;
  }
}

}  // namespace
}  // namespace farcall::doctor
