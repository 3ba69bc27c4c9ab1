// SPDX-License-Identifier: Apache-2.0

#include "transport/base/host/cpu_quota.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

namespace farcall {
namespace {

using Files = std::map<std::string, std::string>;

std::optional<int> Cores(const Files& files) {
  return CoresByQuota([&](const std::string& path) {
    const auto file = files.find(path);
    return file == files.end() ? std::string() : file->second;
  });
}

constexpr char kV2Mount[] =
    "23 28 0:21 / /proc rw,nosuid - proc proc rw\n"
    "31 23 0:28 / /sys/fs/cgroup ro,nosuid,nodev shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr char kV1Mounts[] =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n"
    "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n";

TEST(CpuQuotaTest, WithoutCgroupsThereIsNone) {
  EXPECT_EQ(Cores({}), std::nullopt);
  EXPECT_EQ(Cores({{"/proc/self/cgroup", "0::/\n"}}), std::nullopt);
  EXPECT_EQ(Cores({{"/proc/self/mountinfo", kV2Mount}}), std::nullopt);
}

// A container with a cgroup namespace of its own, as Kubernetes makes it.
TEST(CpuQuotaTest, OfVersion2) {
  const struct {
    const char* max;
    std::optional<int> cores;
  } cases[] = {
      {"400000 100000\n", 4},
      {"max 100000\n", std::nullopt},
      {"350000 100000\n", 4},
      {"50000 100000\n", 1},
      {"100001 100000\n", 2},
      {"20000 10000\n", 2},
      {"", std::nullopt},
      {"100000\n", std::nullopt},
      {"100000 0\n", std::nullopt},
      {"x y\n", std::nullopt},
      {"9000000000000000000 1\n", 1 << 20},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(Cores({{"/proc/self/cgroup", "0::/\n"},
                     {"/proc/self/mountinfo", kV2Mount},
                     {"/sys/fs/cgroup/cpu.max", one.max}}),
              one.cores)
        << one.max;
  }
}

TEST(CpuQuotaTest, TheLeastOfAllLevelsCounts) {
  Files files = {{"/proc/self/cgroup", "0::/a/b/c\n"},
                 {"/proc/self/mountinfo", kV2Mount},
                 {"/sys/fs/cgroup/a/cpu.max", "300000 100000\n"},
                 {"/sys/fs/cgroup/a/b/cpu.max", "200000 100000\n"},
                 {"/sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n"},
                 {"/sys/fs/cgroup/a/x/cpu.max", "100000 100000\n"}};
  EXPECT_EQ(Cores(files), 2);
  files["/sys/fs/cgroup/a/b/c/cpu.max"] = "500000 100000\n";
  EXPECT_EQ(Cores(files), 2);
  files["/sys/fs/cgroup/a/b/cpu.max"] = "max 100000\n";
  EXPECT_EQ(Cores(files), 3);
}

TEST(CpuQuotaTest, OfVersion1) {
  const std::string own = "/sys/fs/cgroup/cpu,cpuacct/pod/web";
  Files files = {{"/proc/self/cgroup", "9:name=systemd:/\n3:cpuset:/x\n4:cpu,cpuacct:/pod/web\n"},
                 {"/proc/self/mountinfo", kV1Mounts},
                 {own + "/cpu.cfs_quota_us", "250000\n"},
                 {own + "/cpu.cfs_period_us", "100000\n"}};
  EXPECT_EQ(Cores(files), 3);
  files[own + "/cpu.cfs_quota_us"] = "-1\n";
  EXPECT_EQ(Cores(files), std::nullopt);
}

// Docker without a cgroup namespace: the container's cgroup is what is mounted.
TEST(CpuQuotaTest, WhereThePlaceIsTheMountsRoot) {
  Files files = {{"/proc/self/cgroup", "4:cpu,cpuacct:/docker/1234\n"},
                 {"/proc/self/mountinfo",
                  "9 8 0:7 /docker/1234 /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu,cpuacct\n"},
                 {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "600000\n"},
                 {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}};
  EXPECT_EQ(Cores(files), 6);
  // Further down, and the mount above it.
  files["/proc/self/cgroup"] = "4:cpu,cpuacct:/docker/1234/deep\n";
  files["/sys/fs/cgroup/cpu/deep/cpu.cfs_quota_us"] = "500000\n";
  files["/sys/fs/cgroup/cpu/deep/cpu.cfs_period_us"] = "100000\n";
  EXPECT_EQ(Cores(files), 5);
  // Elsewhere, also where the names begin alike: what is mounted is all that can be seen.
  for (const char* elsewhere : {"/docker/12345/deep", "/../deep", "/system.slice"}) {
    files["/proc/self/cgroup"] = std::string("4:cpu,cpuacct:") + elsewhere + "\n";
    EXPECT_EQ(Cores(files), 6) << elsewhere;
  }
}

TEST(CpuQuotaTest, WhereBothVersionsAreMounted) {
  Files files = {{"/proc/self/cgroup", "1:cpu:/a\n0::/a\n"},
                 {"/proc/self/mountinfo", std::string(kV1Mounts) + kV2Mount},
                 {"/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "700000\n"},
                 {"/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n"}};
  EXPECT_EQ(Cores(files), 7);
  files["/sys/fs/cgroup/a/cpu.max"] = "300000 100000\n";
  EXPECT_EQ(Cores(files), 3);
}

TEST(CpuQuotaTest, LinesThatAreNoneAreLeftOut) {
  EXPECT_EQ(Cores({{"/proc/self/cgroup", "\n:\n0:\n0::/\n::::\n"},
                   {"/proc/self/mountinfo", std::string("\n - \n1 2 3 - cgroup2\n") + kV2Mount},
                   {"/sys/fs/cgroup/cpu.max", "200000 100000\n"}}),
            2);
}

}  // namespace
}  // namespace farcall
