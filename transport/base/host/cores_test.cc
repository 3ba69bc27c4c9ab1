// SPDX-License-Identifier: Apache-2.0

#include "transport/base/host/cores.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace farcall {
namespace {

int CoresWithQuota(const std::string& cpu_max) {
  return UsableCores([&](const std::string& path) -> std::string {
    if (path == "/proc/self/cgroup") return "0::/\n";
    if (path == "/proc/self/mountinfo") return "31 23 0:28 / /c ro - cgroup2 cgroup2 rw\n";
    return path == "/c/cpu.max" ? cpu_max : "";
  });
}

TEST(UsableCoresTest, AreThoseThatItMayRunOn) {
  cpu_set_t set;
  CPU_ZERO(&set);
  ASSERT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  EXPECT_EQ(CoresWithQuota("max 100000\n"), CPU_COUNT(&set));
  EXPECT_GE(UsableCores(), 1);
  EXPECT_LE(UsableCores(), CPU_COUNT(&set));
}

TEST(UsableCoresTest, AreNoMoreThanTheQuotaIsWorth) {
  const int without = CoresWithQuota("");
  EXPECT_EQ(CoresWithQuota("400000 100000\n"), std::min(without, 4));
  EXPECT_EQ(CoresWithQuota("100000 100000\n"), 1);
}

TEST(UsableCoresTest, AQuotaGivesNoneThatItMayNotRunOn) {
  std::thread([] {
    const int cpu = AllowedCpus().back();
    EXPECT_FALSE(RunOnlyOn({}));
    EXPECT_FALSE(RunOnlyOn({-1, kMaxCpus}));
    ASSERT_TRUE(RunOnlyOn({cpu}));
    EXPECT_EQ(AllowedCpus(), std::vector<int>{cpu});
    EXPECT_EQ(CoresWithQuota("400000 100000\n"), 1);
  }).join();
}

TEST(ReadHostCpusTest, NodesComeInTheirOrder) {
  const std::string nodes = testing::TempDir() + "/numa-nodes";
  const auto add = [&](const std::string& name, const std::string& cpus) {
    std::filesystem::create_directories(nodes + "/" + name);
    std::ofstream(nodes + "/" + name + "/cpulist") << cpus << "\n";
  };
  add("node10", "4-7,12-15");
  add("node2", "0-3,8-11");
  add("node3", "");  // memory without processors
  add("nodes", "0-15");
  std::filesystem::create_directories(nodes + "/power");
  const HostCpus host = ReadHostCpus(nodes);
  ASSERT_EQ(host.nodes.size(), 3u);
  EXPECT_EQ(host.nodes[0].number, 2);
  EXPECT_EQ(CpuListText(host.nodes[0].cpus), "0-3,8-11");
  EXPECT_TRUE(host.nodes[1].cpus.empty());
  EXPECT_EQ(host.nodes[2].number, 10);
  EXPECT_EQ(host.allowed, AllowedCpus());
  EXPECT_TRUE(ReadHostCpus(nodes + "/nowhere").nodes.empty());
  std::filesystem::remove_all(nodes);
}

TEST(StayOnNodeTest, IsOnThoseThatTheThreadMayUse) {
  const std::string nodes = testing::TempDir() + "/nodes-to-stay-on";
  const std::vector<int> all = AllowedCpus();
  const auto add = [&](int node, const std::vector<int>& cpus) {
    const std::string path = nodes + "/node" + std::to_string(node);
    std::filesystem::create_directories(path);
    std::ofstream(path + "/cpulist") << CpuListText(cpus) << "\n";
  };
  add(3, {all.front(), kMaxCpus - 1});
  add(4, {kMaxCpus - 1});
  const auto on = [&](int node) {
    std::vector<int> cpus;
    std::thread([&] {
      {
        const StayOnNode stay(node, nodes);
        cpus = AllowedCpus();
      }
      EXPECT_EQ(AllowedCpus(), all);
    }).join();
    return cpus;
  };
  EXPECT_EQ(on(3), std::vector<int>{all.front()});
  EXPECT_EQ(on(4), all) << "none that it may use";
  EXPECT_EQ(on(5), all) << "there is none";
  EXPECT_EQ(on(-1), all);
  std::filesystem::remove_all(nodes);
}

}  // namespace
}  // namespace farcall
