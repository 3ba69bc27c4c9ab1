// SPDX-License-Identifier: Apache-2.0

#include "transport/base/numa_node.h"

#include <filesystem>
#include <fstream>

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

class NodeOfCpusTest : public testing::Test {
 protected:
  NodeOfCpusTest() {
    Add("node0", "0-3,8-11");
    Add("node1", "4-7,12-15");
    Add("node2", "");  // memory without processors
    Add("nodes", "0-15");
    std::filesystem::create_directories(nodes_ + "/power");
  }
  ~NodeOfCpusTest() override { std::filesystem::remove_all(nodes_); }
  void Add(const std::string& name, const std::string& cpus) {
    std::filesystem::create_directories(nodes_ + "/" + name);
    std::ofstream(nodes_ + "/" + name + "/cpulist") << cpus << "\n";
  }

  const std::string nodes_ = testing::TempDir() + "/numa-nodes";
};

TEST_F(NodeOfCpusTest, IsTheOneThatHasAll) {
  EXPECT_EQ(NodeOfCpus({0}, nodes_), 0);
  EXPECT_EQ(NodeOfCpus({12, 5}, nodes_), 1);
  EXPECT_EQ(NodeOfCpus({3, 4}, nodes_), -1) << "of both";
  EXPECT_EQ(NodeOfCpus({16}, nodes_), -1);
  EXPECT_EQ(NodeOfCpus({}, nodes_), -1);
  EXPECT_EQ(NodeOfCpus({0}, nodes_ + "/nowhere"), -1);
}

}  // namespace
}  // namespace farcall
