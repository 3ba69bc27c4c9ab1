// SPDX-License-Identifier: Apache-2.0

#include "transport/base/host/numa_node.h"

#include "gtest/gtest.h"

namespace farcall {
namespace {

TEST(ParseCpuListTest, ReadsWhatTheKernelWrites) {
  using Cpus = std::vector<int>;
  EXPECT_EQ(ParseCpuList("0-3,8,10-11\n"), (Cpus{0, 1, 2, 3, 8, 10, 11}));
  EXPECT_EQ(ParseCpuList("5"), Cpus{5});
  EXPECT_EQ(ParseCpuList("8191"), Cpus{8191});
  EXPECT_EQ(ParseCpuList("x,1,2-,3-4"), (Cpus{1, 3, 4}));
  for (const char* const text : {"", "\n", "x", "3-1", "1-2-3", "-", "-1", "8192", "0-999999999"}) {
    EXPECT_EQ(ParseCpuList(text), Cpus()) << text;
  }
}

TEST(CpuListTextTest, IsReadAgain) {
  for (const char* const text : {"", "5", "0-3,8,10-11", "0-1,3-4", "7,9,11"}) {
    EXPECT_EQ(CpuListText(ParseCpuList(text)), text);
  }
}

TEST(NodeOfCpusTest, IsTheOneThatHasAll) {
  const std::vector<NumaNode> nodes = {
      {0, ParseCpuList("0-3,8-11")}, {1, ParseCpuList("4-7,12-15")}, {2, {}}};
  EXPECT_EQ(NodeOfCpus({0}, nodes), 0);
  EXPECT_EQ(NodeOfCpus({12, 5}, nodes), 1);
  EXPECT_EQ(NodeOfCpus({3, 4}, nodes), -1) << "of both";
  EXPECT_EQ(NodeOfCpus({16}, nodes), -1);
  EXPECT_EQ(NodeOfCpus({}, nodes), -1);
  EXPECT_EQ(NodeOfCpus({0}, {}), -1);
}

}  // namespace
}  // namespace farcall
