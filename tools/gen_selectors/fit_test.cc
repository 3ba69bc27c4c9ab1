// SPDX-License-Identifier: Apache-2.0

#include "tools/gen_selectors/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "absl/strings/str_cat.h"
#include "transport/testing/test_random.h"

namespace farcall::selectors {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Function Make(std::string rdma, std::string device, std::string if_name,
              std::string link_type = "ether") {
  Function function;
  function.node = "n";
  function.rdma = std::move(rdma);
  function.pci = "0000:17:00.0";
  function.vendor = "15b3";
  function.device = std::move(device);
  function.driver = "mlx5_core";
  function.if_name = std::move(if_name);
  function.link_type = std::move(link_type);
  return function;
}

TEST(FitTest, VendorDeviceAndLinkTypeComeFirst) {
  const auto fit =
      Fit(Plugin::kShared, {Make("a", "1021", "x"), Make("b", "1015", "y")}, {true, false});
  ASSERT_TRUE(fit.ok());
  EXPECT_THAT(fit->vendors, ElementsAre("15b3"));
  EXPECT_THAT(fit->devices, ElementsAre("1021"));
  EXPECT_THAT(fit->link_types, ElementsAre("ether"));
  EXPECT_TRUE(fit->drivers.empty());
  EXPECT_TRUE(fit->if_names.empty());
}

TEST(FitTest, NamesTellLikeOnesApart) {
  const auto fit =
      Fit(Plugin::kShared, {Make("a", "1021", "x"), Make("b", "1021", "y")}, {false, true});
  ASSERT_TRUE(fit.ok());
  EXPECT_THAT(fit->if_names, ElementsAre("y"));
}

TEST(FitTest, DriversComeBeforeNames) {
  std::vector<Function> functions = {Make("a", "1021", "x"), Make("b", "1021", "y")};
  functions[1].driver = "vfio-pci";
  const auto fit = Fit(Plugin::kShared, functions, {true, false});
  ASSERT_TRUE(fit.ok());
  EXPECT_THAT(fit->drivers, ElementsAre("mlx5_core"));
  EXPECT_TRUE(fit->if_names.empty());
}

TEST(FitTest, WithoutANetworkDeviceThereIsNoLinkType) {
  const auto fit =
      Fit(Plugin::kShared, {Make("a", "1021", "ib0", "infiniband"), Make("b", "1021", "", "")},
          {true, true});
  ASSERT_TRUE(fit.ok());
  EXPECT_TRUE(fit->link_types.empty());
}

TEST(FitTest, WhatCannotBeToldApartIsNamed) {
  size_t in_the_way = 0;
  const auto fit = Fit(Plugin::kShared, {Make("a", "1021", "x"), Make("b", "1021", "x")},
                       {true, false}, &in_the_way);
  ASSERT_FALSE(fit.ok());
  EXPECT_EQ(in_the_way, 1u);
  EXPECT_EQ(fit.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(fit.status().message()), HasSubstr("b (0000:17:00.0, x) of n"));
}

TEST(FitTest, FunctionsOfWhichNothingIsKnownCannotBeSelected) {
  Function function = Make("a", "", "", "");
  function.vendor = function.driver = "";
  const auto fit = Fit(Plugin::kShared, {function}, {true});
  ASSERT_FALSE(fit.ok());
  EXPECT_THAT(std::string(fit.status().message()), HasSubstr("/sys"));
}

TEST(FitTest, NamesOfPhysicalFunctionsAreAnchoredWhereTheyMatchOthers) {
  std::vector<Function> functions = {Make("a", "101e", "v0"), Make("b", "101e", "v1")};
  functions[0].pf_name = "ens1";
  functions[1].pf_name = "ens2";
  auto fit = Fit(Plugin::kSriov, functions, {true, false});
  ASSERT_TRUE(fit.ok());
  EXPECT_THAT(fit->pf_names, ElementsAre("ens1"));
  functions[1].pf_name = "ens10";
  fit = Fit(Plugin::kSriov, functions, {true, false});
  ASSERT_TRUE(fit.ok());
  EXPECT_THAT(fit->pf_names, ElementsAre("^ens1$"));
}

// --- Any functions, any wish ---

std::string OneOf(TestRandom& random, const std::vector<std::string>& values) {
  return values[random.Below(values.size())];
}

std::vector<Function> RandomFunctions(TestRandom& random) {
  std::vector<Function> functions(1 + random.Below(8));
  for (Function& f : functions) {
    f.node = "n";
    f.pci = "0000:17:00.0";
    f.vendor = OneOf(random, {"15b3", "15b3", "15b3", "1425", "8086"});
    f.device = OneOf(random, {"1021", "1021", "1015", "101e"});
    f.driver = OneOf(random, {"mlx5_core", "mlx5_core", "vfio-pci"});
    f.if_name = OneOf(random, {"ib0", "ib1", "ens1", "ens10", "ens1.5", ""});
    f.link_type = OneOf(random, {"ether", "infiniband", ""});
    f.pf_name = OneOf(random, {"ens1", "ens10", "ens1x5", "ens1.5", ""});
    f.numvfs = random.Below(8) == 0 ? 4 : 0;
    f.is_network = random.Below(12) != 0;
  }
  return functions;
}

// Whether every list of selectors that takes the wanted ones takes `other` too.
bool IsBetween(Plugin plugin, const Function& other, const std::vector<Function>& functions,
               const std::vector<bool>& wanted) {
  std::vector<std::string Function::*> fields = {&Function::vendor, &Function::device,
                                                 &Function::driver, &Function::link_type};
  fields.push_back(plugin == Plugin::kShared ? &Function::if_name : &Function::pf_name);
  for (const auto field : fields) {
    std::set<std::string> values;
    for (size_t i = 0; i < functions.size(); ++i) {
      if (wanted[i]) values.insert(functions[i].*field);
    }
    if (values.count("") == 0 && values.count(other.*field) == 0) return false;
  }
  return true;
}

void CheckRandom(uint64_t seed) {
  TestRandom random(seed);
  const Plugin plugin = random.Below(2) == 0 ? Plugin::kShared : Plugin::kSriov;
  const std::vector<Function> functions = RandomFunctions(random);
  std::vector<bool> wanted(functions.size());
  for (size_t i = 0; i < wanted.size(); ++i) wanted[i] = random.Below(2) == 0;
  wanted[random.Below(wanted.size())] = true;
  const auto fit = Fit(plugin, functions, wanted);
  bool possible = true;
  for (size_t i = 0; i < functions.size(); ++i) {
    if (fit.ok()) {
      EXPECT_EQ(Selects(plugin, *fit, functions[i]), wanted[i]) << i;
    }
    if (wanted[i] && !IsSeen(plugin, functions[i])) possible = false;
    if (wanted[i] || !IsSeen(plugin, functions[i])) continue;
    if (IsBetween(plugin, functions[i], functions, wanted)) possible = false;
  }
  EXPECT_EQ(fit.ok(), possible) << fit.status().message();
}

TEST(FitTest, SelectsExactlyWhatIsWantedWheneverThatIsPossible) {
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    CheckRandom(seed);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace farcall::selectors
