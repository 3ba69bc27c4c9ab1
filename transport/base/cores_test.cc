// SPDX-License-Identifier: Apache-2.0

#include "transport/base/cores.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
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
    EXPECT_FALSE(RunOnlyOn({-1, kMostCpus}));
    ASSERT_TRUE(RunOnlyOn({cpu}));
    EXPECT_EQ(AllowedCpus(), std::vector<int>{cpu});
    EXPECT_EQ(CoresWithQuota("400000 100000\n"), 1);
  }).join();
}

}  // namespace
}  // namespace farcall
