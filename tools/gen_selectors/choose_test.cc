// SPDX-License-Identifier: Apache-2.0

#include "tools/gen_selectors/choose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tools/node/testing/fixture.h"

namespace farcall::selectors {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<Function> Read(const std::string& fixture) {
  static std::map<std::string, std::vector<Function>> seen;
  const auto [at, is_new] = seen.try_emplace(fixture);
  if (is_new) {
    const node::FixtureTree tree = node::FixtureTree::Named(fixture);
    at->second = FunctionsOf(node::ReadInventory(tree.root()), 0);
  }
  return at->second;
}

// Why not, by the name of the RDMA device.
std::map<std::string, std::string> Judge(const std::string& fixture, const Wish& wish = {}) {
  std::map<std::string, std::string> reasons;
  for (const Judged& judged : Choose(wish, Read(fixture))) {
    reasons[judged.function.rdma] = judged.why_not;
  }
  return reasons;
}

TEST(ChooseTest, PortsOfTheFabricAreChosen) {
  for (const char* const fixture : {"cx7_infiniband", "cx7_roce", "bond"}) {
    for (const auto& [device, why] : Judge(fixture)) EXPECT_EQ(why, "") << device;
  }
}

TEST(ChooseTest, SlowAndUnpluggedPortsAreLeftOut) {
  auto why = Judge("mixed_fabric");
  EXPECT_EQ(why["mlx5_0"], "");
  EXPECT_EQ(why["mlx5_2"], "");
  EXPECT_THAT(why["mlx5_1"], HasSubstr("no link (DOWN, Polling)"));
  EXPECT_THAT(why["mlx5_3"], HasSubstr("25 Gb/s where the fastest has 400 Gb/s"));
}

TEST(ChooseTest, OptionsKeepThem) {
  auto why = Judge("mixed_fabric", {.min_gbps = 25, .include_down = true});
  EXPECT_EQ(why["mlx5_3"], "");
  EXPECT_EQ(why["mlx5_1"], "") << "its 10 Gb/s are no rate of a link";
  why = Judge("mixed_fabric", {.min_gbps = 300});
  EXPECT_EQ(why["mlx5_0"], "");
  EXPECT_THAT(why["mlx5_2"], HasSubstr("slower than --min-rate: 200 Gb/s"));
}

TEST(ChooseTest, OneKindOfLinkCanBeAskedFor) {
  auto why = Judge("mixed_fabric", {.link = "InfiniBand"});
  EXPECT_EQ(why["mlx5_0"], "");
  EXPECT_THAT(why["mlx5_2"], HasSubstr("not InfiniBand: Ethernet"));
}

TEST(ChooseTest, APortIsForManagementBesideThoseThatAreWanted) {
  auto why = Judge("mixed_fabric", {.link = "Ethernet"});
  EXPECT_THAT(why["mlx5_3"], HasSubstr("25 Gb/s where the fastest has 200 Gb/s"));
  why = Judge("mixed_fabric", {.link = "Ethernet", .exclude = {"mlx5_2"}});
  EXPECT_EQ(why["mlx5_3"], "") << "no faster Ethernet is left";
  why = Judge("mixed_fabric", {.exclude = {"mlx5_0", "mlx5_2"}});
  EXPECT_EQ(why["mlx5_3"], "");
}

TEST(ChooseTest, NamesAreExcluded) {
  const Wish wish{.exclude = {"ib0", "mlx5_2", "0000:01:00.0", "nobody"}};
  auto why = Judge("mixed_fabric", wish);
  EXPECT_EQ(why["mlx5_0"], "--exclude ib0");
  EXPECT_EQ(why["mlx5_2"], "--exclude mlx5_2");
  EXPECT_EQ(why["mlx5_3"], "--exclude 0000:01:00.0");
  EXPECT_THAT(UnknownNames(wish, Read("mixed_fabric")), ElementsAre("nobody"));
}

TEST(ChooseTest, SoftwareDevicesCannotBeSelected) {
  EXPECT_THAT(Judge("rxe")["rxe0"], HasSubstr("rxe is a driver in software over eth0"));
  EXPECT_THAT(Judge("rxe")["rxe0"], HasSubstr("it has no PCI address"));
  EXPECT_THAT(Judge("siw")["siw0"], HasSubstr("siw is a driver in software over eno1"));
}

TEST(ChooseTest, SoftwareBelowAPciFunctionIsForTrials) {
  node::FixtureTree tree = node::FixtureTree::Named("cx7_roce");
  tree.Apply(
      "[sys/class/infiniband/a_rxe]\nnode_desc = rxe\nparent = ens1f0np0\n"
      "device -> ../../../devices/pci0000:17/0000:17:00.0\nports/1/state = 4: ACTIVE\n"
      "ports/1/rate = 1 Gb/sec (1X SDR)\n");
  const node::Inventory node = node::ReadInventory(tree.root());
  const auto judge = [&](bool include_software, const Wish& wish) {
    std::map<std::string, Judged> judged;
    for (const Judged& each : Choose(wish, FunctionsOf(node, 0, include_software))) {
      judged[each.function.rdma] = each;
    }
    return judged;
  };
  EXPECT_EQ(judge(false, {})["a_rxe"].why_not,
            "rxe is a driver in software over ens1f0np0: --include-software keeps it, for trials");
  EXPECT_THAT(judge(true, {})["a_rxe"].why_not, HasSubstr("for management, by its rate: 1 Gb/s"));
  const Judged kept = judge(true, {.min_gbps = 1})["a_rxe"];
  EXPECT_EQ(kept.why_not, "");
  EXPECT_EQ(Describe(kept.function), "a_rxe (0000:17:00.0, ens1f0np0)");
}

TEST(ChooseTest, SiwHasNoUmadEvenBelowAPciFunction) {
  const node::FixtureTree tree = node::FixtureTree::Named("siw");
  const auto functions = FunctionsOf(node::ReadInventory(tree.root()), 0, true);
  EXPECT_THAT(Choose({}, functions)[0].why_not, HasSubstr("iWARP has no umad"));
}

TEST(ChooseTest, IwarpIsNotForTheSharedPlugin) {
  std::vector<Function> functions = Read("iwarp");
  const std::string why = Choose({}, functions)[0].why_not;
  EXPECT_THAT(why, HasSubstr("no umad"));
  EXPECT_THAT(why, HasSubstr("/dev/infiniband itself (privileged), or TCP"));
  functions[0].totalvfs = 8;
  EXPECT_THAT(Choose({}, functions)[0].why_not, HasSubstr("--format sriov"));
}

TEST(ChooseTest, EachPluginHasItsFunctions) {
  auto shared = Judge("sriov");
  EXPECT_EQ(shared["mlx5_0"], "");
  EXPECT_THAT(shared["mlx5_1"], HasSubstr("a virtual function of 0000:17:00.0"));
  auto sriov = Judge("sriov", {.plugin = Plugin::kSriov});
  EXPECT_THAT(sriov["mlx5_0"], HasSubstr("its 4 virtual ones are for pods"));
  EXPECT_EQ(sriov["mlx5_1"], "");
  EXPECT_EQ(sriov["mlx5_2"], "") << "down until a pod has it";
}

TEST(ChooseTest, WithoutVirtualFunctionsTheCureIsTold) {
  const auto why = Judge("cx7_roce", {.plugin = Plugin::kSriov});
  EXPECT_THAT(why.at("mlx5_0"),
              HasSubstr("echo 8 > /sys/bus/pci/devices/0000:17:00.0/sriov_numvfs"));
}

TEST(ChooseTest, VirtualFunctionsOfAPortWithoutLinkAreLeftOut) {
  std::vector<Function> functions = Read("sriov");
  functions[0].up = false;
  functions[0].port_state = "DOWN, Disabled";
  const Wish wish{.plugin = Plugin::kSriov};
  for (const Judged& judged : Choose(wish, functions)) EXPECT_FALSE(judged.chosen());
  EXPECT_THAT(Choose(wish, functions)[1].why_not, HasSubstr("no link (DOWN, Disabled)"));
}

TEST(ChooseTest, TheSriovPluginTakesNoFunctionWithTheDefaultRoute) {
  std::vector<Function> functions = Read("sriov");
  functions[1].default_route = true;
  const std::vector<Judged> judged = Choose({.plugin = Plugin::kSriov}, functions);
  EXPECT_THAT(judged[1].why_not, HasSubstr("default route"));
  EXPECT_TRUE(judged[2].chosen());
}

TEST(ChooseTest, OtherClassesOfPciAreNotSeen) {
  std::vector<Function> functions = Read("cx7_roce");
  functions[0].is_network = false;
  EXPECT_THAT(Choose({}, functions)[0].why_not, HasSubstr("PCI class"));
}

}  // namespace
}  // namespace farcall::selectors
