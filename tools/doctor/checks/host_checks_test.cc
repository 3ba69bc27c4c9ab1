// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "tools/doctor/checks/checks.h"
#include "tools/doctor/checks/checks_testing.h"
#include "tools/node/testing/fixture.h"

namespace farcall::doctor {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kGiB = 1 << 30;

// Whatever is not fine says what to do or that it is not known.
void ExpectWhole(const Finding& finding) {
  EXPECT_FALSE(finding.check.empty());
  EXPECT_FALSE(finding.finding.empty()) << finding.check;
  if (finding.verdict != Verdict::kFailed && finding.verdict != Verdict::kDegraded) return;
  EXPECT_FALSE(finding.meaning.empty()) << finding.finding;
  EXPECT_FALSE(finding.cure.empty()) << finding.finding;
}

TEST(LibrariesTest, EachVerdict) {
  LibraryFacts facts;
  facts.error = "libibverbs.so.1: cannot open shared object file";
  Findings findings = CheckLibraries(facts, 0);
  ExpectWhole(findings[0]);
  EXPECT_EQ(findings[0].verdict, Verdict::kFailed);
  EXPECT_TRUE(Says(findings[0], "libibverbs.so.1"));

  facts.error.clear();
  findings = CheckLibraries(facts, 0);
  ExpectWhole(findings[0]);
  EXPECT_EQ(findings[0].verdict, Verdict::kDegraded) << "no provider";
  EXPECT_EQ(CheckLibraries(facts, 2)[0].verdict, Verdict::kUnknown) << "they lie elsewhere";

  facts.providers = {"libmlx5-rdmav34.so", "librxe-rdmav34.so"};
  EXPECT_EQ(CheckLibraries(facts, 2)[0].verdict, Verdict::kOk);
}

TEST(LibrariesTest, AProviderGoesWithItsDriver) {
  LibraryFacts facts;
  facts.providers = {"libirdma-rdmav34.so", "libmlx5-rdmav34.so"};
  for (const char* driver : {"mlx5_core", "ice", "irdma"}) {
    const Finding finding = CheckProvider(facts, "dev0", driver, true);
    EXPECT_EQ(finding.verdict, Verdict::kOk);
    EXPECT_TRUE(Says(finding, "-rdmav34.so")) << driver;
  }
  const Finding missing = CheckProvider(facts, "bnxt_re0", "bnxt_en", false);
  ExpectWhole(missing);
  EXPECT_EQ(missing.verdict, Verdict::kFailed);
  EXPECT_TRUE(Says(missing, "libbnxt_re-"));
  const Finding hidden = CheckProvider(facts, "mlx5_0", "mlx5_core", false);
  ExpectWhole(hidden);
  EXPECT_TRUE(Says(hidden, "uverbs"));
}

TEST(DeviceFilesTest, ContainerWithoutAnyAndHostWithoutDriver) {
  DeviceFileFacts facts;
  facts.rdma_cm = {"/dev/infiniband/rdma_cm", ENOENT, ""};
  Finding finding = CheckDeviceFiles(facts)[0];
  ExpectWhole(finding);
  EXPECT_EQ(finding.verdict, Verdict::kFailed);
  EXPECT_TRUE(Says(finding, "driver"));
  facts.uverbs_of["mlx5_0"] = "uverbs0";
  EXPECT_TRUE(Says(CheckDeviceFiles(facts)[0], "this container") ||
              Says(CheckDeviceFiles(facts)[0], "was given none"));
  finding = CheckConnectionManager(facts);
  ExpectWhole(finding);
  EXPECT_TRUE(Says(finding, "modprobe rdma_ucm"));
  facts.rdma_ucm = true;
  EXPECT_FALSE(Says(CheckConnectionManager(facts), "modprobe")) << "the kernel has it";
}

TEST(DeviceFilesTest, RightsAndCgroupsAreToldApart) {
  DeviceFileFacts facts;
  facts.directory = true;
  facts.uverbs_of = {
      {"mlx5_0", "uverbs0"}, {"mlx5_1", "uverbs1"}, {"mlx5_2", "uverbs2"}, {"mlx5_3", "uverbs3"}};
  facts.uverbs = {{"/dev/infiniband/uverbs0", 0, "0666 root root"},
                  {"/dev/infiniband/uverbs1", EACCES, "0600 root root"},
                  {"/dev/infiniband/uverbs2", EPERM, "0666 root root"}};
  const Findings findings = CheckDeviceFiles(facts);
  ASSERT_EQ(findings.size(), 4u);
  for (const Finding& finding : findings) ExpectWhole(finding);
  EXPECT_EQ(findings[0].verdict, Verdict::kOk);
  EXPECT_TRUE(Says(findings[1], "0600 root root"));
  EXPECT_TRUE(Says(findings[1], "chmod"));
  EXPECT_TRUE(Says(findings[2], "RDMA resource"));
  EXPECT_TRUE(Says(findings[2], "rdma-cni")) << "so does exclusive mode refuse";
  EXPECT_TRUE(Says(findings[3], "not here"));
}

TEST(DeviceFilesTest, MaskedSysfsIsUnknownAndNoFileAFailure) {
  DeviceFileFacts facts;
  facts.directory = true;
  EXPECT_EQ(CheckDeviceFiles(facts)[0].verdict, Verdict::kFailed);
  facts.uverbs = {{"/dev/infiniband/uverbs0", 0, ""}};
  EXPECT_EQ(CheckDeviceFiles(facts)[0].verdict, Verdict::kUnknown);
}

TEST(ConnectionManagerTest, EachVerdict) {
  DeviceFileFacts facts;
  facts.rdma_cm = {"/dev/infiniband/rdma_cm", EACCES, "0600 root root"};
  ExpectWhole(CheckConnectionManager(facts));
  EXPECT_EQ(CheckConnectionManager(facts).verdict, Verdict::kFailed);
  for (const int error : {ENXIO, ENODEV}) {
    facts.rdma_cm.error = error;
    ExpectWhole(CheckConnectionManager(facts));
    EXPECT_TRUE(Says(CheckConnectionManager(facts), "modprobe rdma_ucm")) << error;
    EXPECT_FALSE(Says(CheckConnectionManager(facts), "chmod")) << error;
  }
  facts.rdma_cm.error = 0;
  EXPECT_EQ(CheckConnectionManager(facts).verdict, Verdict::kUnknown);
  facts.channel_tried = true;
  EXPECT_EQ(CheckConnectionManager(facts).verdict, Verdict::kOk);
  facts.channel_error = "No such device";
  EXPECT_TRUE(Says(CheckConnectionManager(facts), "wants a device first"));
  facts.uverbs_of["mlx5_0"] = "uverbs0";
  ExpectWhole(CheckConnectionManager(facts));
  EXPECT_EQ(CheckConnectionManager(facts).verdict, Verdict::kFailed);
}

TEST(MemlockTest, TheNeedFollowsFromTheLibrarysDefaults) {
  const RdmaOptions rdma;
  const BlockPoolOptions pool;
  const MemoryNeed one = NeedOf(rdma, pool, 1);
  // 512 receives of 64 KiB are four regions of 8 MiB, and two more classes have one each.
  EXPECT_EQ(one.first, 48 * kMiB);
  EXPECT_EQ(one.least, 48 * kMiB);
  EXPECT_EQ(one.most, kGiB);
  EXPECT_GT(NeedOf(rdma, pool, 2).least, one.least);
  EXPECT_EQ(NeedOf(rdma, pool, 8).first, one.first) << "each loop's come with its connections";
  EXPECT_EQ(NeedOf(rdma, pool, 1000).least, kGiB) << "the pool is never larger";
}

TEST(MemlockTest, EachVerdict) {
  const MemoryNeed need = {48 * kMiB, 48 * kMiB, kGiB};
  MemoryFacts facts;
  EXPECT_EQ(CheckMemlock(facts, need, 1).verdict, Verdict::kUnknown);
  facts.soft_limit = 8 * kMiB;
  Finding finding = CheckMemlock(facts, need, 1);
  ExpectWhole(finding);
  EXPECT_EQ(finding.verdict, Verdict::kFailed);
  EXPECT_TRUE(Says(finding, "8 MiB") && Says(finding, "48 MiB"));
  EXPECT_TRUE(Says(finding, "IPC_LOCK") && Says(finding, "runAsUser: 0"));
  facts.soft_limit = 96 * kMiB;
  EXPECT_EQ(CheckMemlock(facts, need, 1).verdict, Verdict::kDegraded);
  EXPECT_TRUE(Says(CheckMemlock(facts, need, 1), "until the pool grows"));
  EXPECT_EQ(CheckMemlock(facts, need, 4).verdict, Verdict::kDegraded) << "each device counts";
  EXPECT_TRUE(Says(CheckMemlock(facts, need, 4), "stay on TCP"));
  EXPECT_TRUE(Says(CheckMemlock(facts, {48 * kMiB, 272 * kMiB, kGiB}, 1), "stay on TCP"));
  facts.soft_limit = MemoryFacts::kNoLimit;
  EXPECT_EQ(CheckMemlock(facts, need, 8).verdict, Verdict::kOk);
  facts.soft_limit = 64 << 10;
  facts.may_lock = facts.first_user_namespace = true;
  EXPECT_EQ(CheckMemlock(facts, need, 8).verdict, Verdict::kOk);
  facts.first_user_namespace = false;
  EXPECT_EQ(CheckMemlock(facts, need, 8).verdict, Verdict::kFailed);
  EXPECT_TRUE(Says(CheckMemlock(facts, need, 8), "user namespace"));
}

TEST(HugePagesTest, EachVerdict) {
  node::Inventory inventory;
  HugePageFacts facts;
  EXPECT_EQ(CheckHugePages(inventory, facts).verdict, Verdict::kUnknown);
  node::HugePages& pages = *inventory.add_huge_pages();
  pages.set_page_bytes(2 * kMiB);
  pages.set_total(512);
  pages.set_free(0);
  EXPECT_EQ(CheckHugePages(inventory, facts).verdict, Verdict::kOk);
  pages.set_free(512);
  facts.cgroup_bytes = 0;
  EXPECT_EQ(CheckHugePages(inventory, facts).verdict, Verdict::kOk) << "they are off by default";
  EXPECT_TRUE(Says(CheckHugePages(inventory, facts), "SIGBUS"));
  EXPECT_TRUE(Says(CheckHugePages(inventory, facts), "hugepages-2Mi"));
  facts.cgroup_bytes = kGiB;
  EXPECT_EQ(CheckHugePages(inventory, facts).verdict, Verdict::kOk);
}

TEST(ForkTest, EachVerdict) {
  EXPECT_EQ(CheckFork(ForkSafety::kUnneeded).verdict, Verdict::kOk);
  EXPECT_EQ(CheckFork(ForkSafety::kEnabled).verdict, Verdict::kOk);
  EXPECT_EQ(CheckFork(ForkSafety::kDisabled).verdict, Verdict::kDegraded);
  ExpectWhole(CheckFork(ForkSafety::kDisabled));
  EXPECT_EQ(CheckFork(ForkSafety::kUnknown).verdict, Verdict::kUnknown);
}

TEST(DevicesTest, EachVerdict) {
  const auto inventory = [](const char* fixture) {
    return node::ReadInventory(node::FixtureTree::Named(fixture).root());
  };
  const Findings none = CheckDevices(inventory("no_rdma"));
  ExpectWhole(none[0]);
  EXPECT_EQ(none[0].verdict, Verdict::kFailed);
  const Findings some = CheckDevices(inventory("sriov"));
  EXPECT_EQ(some[0].verdict, Verdict::kOk);
  EXPECT_TRUE(Says(some[0], "mlx5_1 (virtual function)"));
  EXPECT_TRUE(Says(CheckDevices(inventory("rxe"))[0], "rxe0 (rxe)"));
  node::Inventory cut = inventory("rxe");
  cut.add_cut("300 devices were left out");
  EXPECT_EQ(CheckDevices(cut)[1].verdict, Verdict::kUnknown);
}

TEST(LibraryVerdictTest, TheReasonIsNamed) {
  EXPECT_EQ(CheckLibraryVerdict({"in_use", ""}).verdict, Verdict::kOk);
  const Finding finding = CheckLibraryVerdict({"no_device", "nothing in /sys/class/infiniband"});
  ExpectWhole(finding);
  EXPECT_EQ(finding.verdict, Verdict::kFailed);
  EXPECT_TRUE(Says(finding, "no_device"));
}

TEST(LibraryVerdictTest, ALibraryThatDoesNotStartTellsNoReasonOfThePage) {
  const Finding finding = CheckLibraryVerdict({LibraryVerdict::kNotTold, "too many open files"});
  ExpectWhole(finding);
  EXPECT_EQ(finding.verdict, Verdict::kFailed);
  EXPECT_TRUE(Says(finding, "too many open files"));
  EXPECT_FALSE(Says(finding, "why-is-rdma-off"));
}

TEST(SettingsTest, WhatTheLibraryDoesNotTakeKeepsItFromStarting) {
  EXPECT_TRUE(CheckSettings({}).empty());
  EXPECT_TRUE(CheckSettings({104, ""}).empty());
  const Findings findings = CheckSettings({std::nullopt, "FARCALL_TRAFFIC_CLASS: \"x\""});
  ASSERT_EQ(findings.size(), 1u);
  ExpectWhole(findings[0]);
  EXPECT_EQ(findings[0].verdict, Verdict::kFailed);
  EXPECT_EQ(findings[0].subject, "");
}

TEST(BytesTextTest, WholeUnits) {
  EXPECT_EQ(BytesText(0), "0 bytes");
  EXPECT_EQ(BytesText(1000), "1000 bytes");
  EXPECT_EQ(BytesText(64 << 10), "64 KiB");
  EXPECT_EQ(BytesText(3 * kGiB), "3 GiB");
}

}  // namespace
}  // namespace farcall::doctor
