// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/cluster/plan.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace farcall::doctor {
namespace {

TEST(PlanTest, EachPathOnceAndNoNodeTwiceInARound) {
  for (size_t nodes = 0; nodes <= 17; ++nodes) {
    for (size_t at_once = 1; at_once <= nodes / 2 + 1; ++at_once) {
      std::set<std::pair<size_t, size_t>> paths;
      for (const Round& round : RoundsOf(nodes, at_once)) {
        EXPECT_FALSE(round.empty());
        EXPECT_LE(round.size(), at_once);
        std::set<size_t> busy;
        for (const Path& path : round) {
          EXPECT_LT(path.from, nodes);
          EXPECT_LT(path.to, nodes);
          EXPECT_TRUE(busy.insert(path.from).second) << path.from << " of " << nodes;
          EXPECT_TRUE(busy.insert(path.to).second) << path.to << " of " << nodes;
          EXPECT_TRUE(paths.emplace(path.from, path.to).second) << path.from << " " << path.to;
        }
      }
      EXPECT_EQ(paths.size(), nodes == 0 ? 0 : nodes * (nodes - 1)) << nodes << " " << at_once;
    }
  }
}

TEST(PlanTest, AllWhoCanAreBusy) {
  EXPECT_EQ(RoundsOf(8, 100).size(), 14u) << "7 for each direction, of 4 paths each";
  EXPECT_EQ(RoundsOf(7, 100).size(), 14u) << "one rests";
  EXPECT_EQ(RoundsOf(8, 3).size(), 28u) << "4 paths are a round of 3 and one of 1";
}

TEST(PlanTest, Two) { EXPECT_EQ(RoundsOf(2, 1), (std::vector<Round>{{{0, 1}}, {{1, 0}}})); }

}  // namespace
}  // namespace farcall::doctor
