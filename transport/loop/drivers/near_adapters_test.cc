// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/drivers/near_adapters.h"

#include "gtest/gtest.h"

namespace farcall {
namespace {

// As lscpu shows it of two sockets with hyper-threads.
HostCpus TwoSockets(absl::string_view allowed = "0-127") {
  return {{{0, ParseCpuList("0-31,64-95")}, {1, ParseCpuList("32-63,96-127")}},
          ParseCpuList(allowed)};
}

std::string Near(const std::vector<int>& adapters, const HostCpus& host, size_t loops = 8) {
  const std::vector<LoopPlace> places = PlacesNear(adapters, host, loops);
  EXPECT_TRUE(places.empty() || places.size() == loops);
  return Describe(places);
}

TEST(NearAdaptersTest, LoopsGoToTheNodesOfTheAdaptersByTurns) {
  EXPECT_EQ(Near({0}, TwoSockets()), "8 loops on node 0 (0-31,64-95)");
  EXPECT_EQ(Near({1, 1, 1}, TwoSockets()), "8 loops on node 1 (32-63,96-127)");
  EXPECT_EQ(Near({0, 0, 0, 1}, TwoSockets(), 3),
            "2 loops on node 0 (0-31,64-95), 1 loop on node 1 (32-63,96-127)");
  const auto places = PlacesNear({1, 0}, TwoSockets(), 3);
  EXPECT_EQ(places[0].node, 0);
  EXPECT_EQ(places[1].node, 1);
  EXPECT_EQ(places[2].cpus, places[0].cpus) << "a set of processors, not one for each";
}

TEST(NearAdaptersTest, ProcessorsOfLoopsAreToldTogether) {
  const std::vector<LoopPlace> places = {{{2}, 0}, {{9, 10}, 1}, {{1}, 0}, {{2}, 0}};
  EXPECT_EQ(CpusOf(places), (std::vector<int>{1, 2, 9, 10}));
  EXPECT_EQ(Describe(places), "3 loops on node 0 (1-2), 1 loop on node 1 (9-10)");
}

TEST(NearAdaptersTest, NothingChangesWhereThereIsOneNode) {
  const HostCpus one_socket = {{{0, ParseCpuList("0-15")}}, ParseCpuList("0-15")};
  EXPECT_EQ(Near({0}, one_socket), "");
  EXPECT_EQ(Near({0}, TwoSockets("0-15")), "") << "a container's set";
  EXPECT_EQ(Near({1}, TwoSockets("0-15")), "") << "which is not the adapter's";
  const HostCpus memory_only = {{{0, ParseCpuList("0-15")}, {1, {}}}, ParseCpuList("0-15")};
  EXPECT_EQ(Near({0}, memory_only), "");
  EXPECT_EQ(Near({1}, memory_only), "");
}

TEST(NearAdaptersTest, NothingChangesWhereTheNodeIsNotKnown) {
  EXPECT_EQ(Near({}, TwoSockets()), "");
  EXPECT_EQ(Near({-1}, TwoSockets()), "");
  EXPECT_EQ(Near({7}, TwoSockets()), "");
  EXPECT_EQ(Near({-1, 1}, TwoSockets()), "8 loops on node 1 (32-63,96-127)")
      << "one in software beside it";
  EXPECT_EQ(Near({0}, {{}, ParseCpuList("0-63")}), "") << "/sys is not readable";
  EXPECT_EQ(Near({0}, TwoSockets("")), "");
}

TEST(NearAdaptersTest, OnlyProcessorsThatMayBeUsedAreTaken) {
  EXPECT_EQ(Near({0}, TwoSockets("8-47"), 8), "8 loops on node 0 (8-31)");
  EXPECT_EQ(Near({0, 1}, TwoSockets("28-33"), 4),
            "2 loops on node 0 (28-31), 2 loops on node 1 (32-33)");
}

TEST(NearAdaptersTest, NoLoopLosesItsProcessor) {
  EXPECT_EQ(Near({0}, TwoSockets("28-33"), 4), "4 loops on node 0 (28-31)");
  EXPECT_EQ(Near({0}, TwoSockets("28-33"), 5), "") << "more loops than processors";
  EXPECT_EQ(Near({0, 1}, TwoSockets("28-33"), 6),
            "4 loops on node 0 (28-31), 2 loops on node 1 (32-33)");
  EXPECT_EQ(Near({0, 1}, TwoSockets("28-33"), 7), "");
}

TEST(NearAdaptersTest, NoLoopIsPinnedToOneProcessor) {
  EXPECT_EQ(Near({0}, TwoSockets("31-47"), 1), "");
  EXPECT_EQ(Near({0, 1}, TwoSockets("31-47"), 4), "4 loops on node 1 (32-47)");
}

// Sub-NUMA clusters: four nodes of one socket.
TEST(NearAdaptersTest, NodesNeedNotBeSockets) {
  HostCpus host;
  for (int node = 0; node < 8; ++node) {
    host.nodes.push_back({node, {}});
    for (int i = 0; i < 16; ++i) {
      host.nodes.back().cpus.push_back(16 * node + i);
      host.allowed.push_back(16 * node + i);
    }
  }
  EXPECT_EQ(Near({3}, host), "8 loops on node 3 (48-63)");
  EXPECT_EQ(Near({1, 3, 5, 7}, host),
            "2 loops on node 1 (16-31), 2 loops on node 3 (48-63), "
            "2 loops on node 5 (80-95), 2 loops on node 7 (112-127)");
}

}  // namespace
}  // namespace farcall
