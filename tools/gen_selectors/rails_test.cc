// SPDX-License-Identifier: Apache-2.0

#include "tools/gen_selectors/rails.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace farcall::selectors {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

Judged Port(std::string node, std::string pci, std::string if_name, std::string why_not = "") {
  Judged judged;
  judged.function.node = std::move(node);
  judged.function.pci = std::move(pci);
  judged.function.if_name = std::move(if_name);
  judged.function.vendor = "15b3";
  judged.function.device = "1021";
  judged.why_not = std::move(why_not);
  return judged;
}

std::vector<size_t> RailsOf(const Rails& rails) {
  std::vector<size_t> numbers;
  for (const auto& rail : rails.rail) numbers.push_back(rail ? *rail : 99);
  return numbers;
}

TEST(RailsTest, OneNodeHasARailForEachPort) {
  const Rails rails = FindRails({Port("a", "0000:17:00.0", "ib0"), Port("a", "0000:18:00.0", "x"),
                                 Port("a", "0000:19:00.0", "ib1", "left out")});
  EXPECT_EQ(rails.count, 2u);
  EXPECT_THAT(RailsOf(rails), ElementsAre(0, 1, 99));
  EXPECT_TRUE(rails.warnings.empty());
}

TEST(RailsTest, TheSameNamesMatchWhateverTheirAddresses) {
  const Rails rails =
      FindRails({Port("a", "0000:17:00.0", "ib0"), Port("a", "0000:ca:00.0", "ib1"),
                 Port("b", "0000:17:00.0", "ib1"), Port("b", "0000:ca:00.0", "ib0")});
  EXPECT_THAT(RailsOf(rails), ElementsAre(0, 1, 1, 0));
  EXPECT_TRUE(rails.warnings.empty());
}

TEST(RailsTest, DifferentNamesMatchByPciOrderWithAWarning) {
  const Rails rails =
      FindRails({Port("a", "0000:17:00.0", "ib0"), Port("a", "0000:ca:00.0", "ib1"),
                 Port("b", "0000:5e:00.0", "ib4"), Port("b", "0000:d0:00.0", "ib5")});
  EXPECT_THAT(RailsOf(rails), ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(rails.warnings, ElementsAre(HasSubstr("different names")));
}

TEST(RailsTest, PortsWithoutNamesMatchByPciOrder) {
  const Rails rails = FindRails({Port("a", "0000:17:00.0", ""), Port("a", "0000:ca:00.0", ""),
                                 Port("b", "0000:17:00.0", "")});
  EXPECT_THAT(RailsOf(rails), ElementsAre(0, 1, 0));
  EXPECT_THAT(rails.warnings, ElementsAre(HasSubstr("1 on b, 2 on a"), HasSubstr("PCI")));
}

TEST(RailsTest, RailsThatMixKindsAreTold) {
  std::vector<Judged> judged = {Port("a", "0000:17:00.0", "ib0"), Port("b", "0000:17:00.0", "ib0")};
  judged[1].function.device = "1015";
  EXPECT_THAT(FindRails(judged).warnings,
              ElementsAre(HasSubstr("rail a is not the same on all nodes")));
}

TEST(RailsTest, VirtualFunctionsAreOnTheRailOfTheirPhysicalOne) {
  std::vector<Judged> judged;
  for (const char* const address : {"0000:17:00.2", "0000:17:00.3", "0000:17:01.2"}) {
    judged.push_back(Port("a", address, ""));
    judged.back().function.physfn = judged.size() < 3 ? "0000:17:00.0" : "0000:17:00.1";
    judged.back().function.pf_name = judged.size() < 3 ? "ens1f0" : "ens1f1";
  }
  const Rails rails = FindRails(judged);
  EXPECT_THAT(RailsOf(rails), ElementsAre(0, 0, 1));
}

TEST(RailsTest, NothingChosenIsNoRail) {
  EXPECT_EQ(FindRails({}).count, 0u);
  EXPECT_EQ(FindRails({Port("a", "0000:17:00.0", "ib0", "down")}).count, 0u);
}

TEST(RailsTest, NamesGoOnBehindZ) {
  EXPECT_EQ(RailName(0), "a");
  EXPECT_EQ(RailName(25), "z");
  EXPECT_EQ(RailName(26), "aa");
  EXPECT_EQ(RailName(27), "ab");
  EXPECT_EQ(RailName(26 + 26 * 26), "aaa");
}

}  // namespace
}  // namespace farcall::selectors
