// SPDX-License-Identifier: Apache-2.0

#include "tools/gen_selectors/selectors.h"

#include <gtest/gtest.h>

namespace farcall::selectors {
namespace {

Function Physical() {
  Function function;
  function.node = "n";
  function.rdma = "mlx5_0";
  function.pci = "0000:17:00.0";
  function.vendor = "15b3";
  function.device = "1021";
  function.driver = "mlx5_core";
  function.if_name = "ens1f0np0";
  function.link_type = "ether";
  return function;
}

Function Virtual() {
  Function function = Physical();
  function.pci = "0000:17:00.2";
  function.device = "101e";
  function.if_name = "ens1f0v0";
  function.physfn = "0000:17:00.0";
  function.pf_name = "ens1f0np0";
  return function;
}

TEST(SelectorsTest, ValuesOfOneListAreAlternatives) {
  EXPECT_TRUE(Selects(Plugin::kShared, {.vendors = {"1425", "15b3"}}, Physical()));
  EXPECT_FALSE(Selects(Plugin::kShared, {.vendors = {"1425"}}, Physical()));
}

TEST(SelectorsTest, AllListsMustMatch) {
  Selectors selectors{.vendors = {"15b3"},
                      .devices = {"1021"},
                      .drivers = {"mlx5_core"},
                      .if_names = {"ens1f0np0"},
                      .link_types = {"ether"}};
  EXPECT_TRUE(Selects(Plugin::kShared, selectors, Physical()));
  for (auto list : {&Selectors::vendors, &Selectors::devices, &Selectors::drivers,
                    &Selectors::if_names, &Selectors::link_types}) {
    Selectors other = selectors;
    other.*list = {"another"};
    EXPECT_FALSE(Selects(Plugin::kShared, other, Physical()));
  }
}

TEST(SelectorsTest, AListDoesNotSelectAFunctionThatHasNoSuchValue) {
  Function function = Physical();
  function.if_name = "";
  function.link_type = "";
  EXPECT_FALSE(Selects(Plugin::kShared, {.link_types = {"infiniband"}}, function));
  EXPECT_FALSE(Selects(Plugin::kShared, {.if_names = {"ib0"}}, function));
  EXPECT_TRUE(Selects(Plugin::kShared, {.vendors = {"15b3"}}, function));
}

TEST(SelectorsTest, PluginsSeeOnlyNetworkFunctionsOfPci) {
  Function function = Physical();
  function.is_network = false;
  EXPECT_FALSE(Selects(Plugin::kShared, {}, function));
  function = Physical();
  function.pci = "";
  EXPECT_FALSE(Selects(Plugin::kShared, {}, function));
}

TEST(SelectorsTest, TheSriovPluginPassesOverPhysicalFunctionsInUse) {
  Function function = Physical();
  EXPECT_TRUE(IsSeen(Plugin::kSriov, function));
  function.numvfs = 4;
  EXPECT_FALSE(IsSeen(Plugin::kSriov, function));
  EXPECT_TRUE(IsSeen(Plugin::kShared, function));
  Function with_route = Virtual();
  with_route.default_route = true;
  EXPECT_FALSE(IsSeen(Plugin::kSriov, with_route));
}

TEST(SelectorsTest, PfNamesSelectVirtualFunctionsOnly) {
  EXPECT_TRUE(Selects(Plugin::kSriov, {.pf_names = {"ens1f0np0"}}, Virtual()));
  EXPECT_FALSE(Selects(Plugin::kSriov, {.pf_names = {"ens1f0np0"}}, Physical()));
  EXPECT_TRUE(Selects(Plugin::kShared, {.pf_names = {"other"}}, Virtual())) << "unknown to it";
  EXPECT_TRUE(Selects(Plugin::kSriov, {.if_names = {"other"}}, Virtual())) << "unknown to it";
}

TEST(SelectorsTest, PfNamesMatchInsideOfNamesUnlessAnchored) {
  EXPECT_TRUE(MatchesPfName("ens1", "ens1"));
  EXPECT_TRUE(MatchesPfName("ENS1", "ens1"));
  EXPECT_TRUE(MatchesPfName("ens1", "ens10"));
  EXPECT_TRUE(MatchesPfName("ens1.5", "ens1x5")) << "a dot is any character";
  EXPECT_FALSE(MatchesPfName("ens10", "ens1"));
  EXPECT_EQ(Anchored("ens1.5"), "^ens1\\.5$");
  EXPECT_TRUE(MatchesPfName(Anchored("ens1.5"), "ens1.5"));
  EXPECT_FALSE(MatchesPfName(Anchored("ens1.5"), "ens1x5"));
  EXPECT_FALSE(MatchesPfName(Anchored("ens1"), "ens10"));
}

TEST(SelectorsTest, NamesWithOtherSignsOfRegularExpressionsAreNotPlain) {
  EXPECT_TRUE(IsPlainName("enp1s0f0.100"));
  for (const char* const name : {"", "a*", "a+b", "(x)", "a$"}) EXPECT_FALSE(IsPlainName(name));
}

}  // namespace
}  // namespace farcall::selectors
