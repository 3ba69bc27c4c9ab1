// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/loop_nodes.h"

#include "gtest/gtest.h"
#include "transport/base/clock.h"
#include "transport/base/cores.h"
#include "transport/base/numa_node.h"

namespace farcall {
namespace {

TEST(LoopNodesTest, LoopsTakeProcessorsByTurns) {
  const SteadyClock clock;
  std::vector<std::unique_ptr<EventLoop>> loops;
  for (int i = 0; i < 3; ++i) loops.push_back(EventLoop::Create(clock).value());
  const int cpu = AllowedCpus().front();
  const auto node_of = NodesOfLoops(loops, {cpu, -1});
  EXPECT_EQ(node_of(*loops[0]), NodeOfCpus({cpu}));
  EXPECT_EQ(node_of(*loops[1]), -1) << "there is no such processor";
  EXPECT_EQ(node_of(*loops[2]), NodeOfCpus({cpu}));
  EXPECT_EQ(NodesOfLoops(loops, {})(*loops[1]), NodeOfCpus(AllowedCpus()));
  EXPECT_EQ(NodesOfLoops({}, {cpu})(*loops[0]), -1) << "another loop";
}

}  // namespace
}  // namespace farcall
