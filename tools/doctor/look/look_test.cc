// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "tools/doctor/look/host.h"
#include "tools/doctor/look/queues.h"
#include "tools/doctor/look/verbs.h"
#include "tools/node/testing/fixture.h"
#include "transport/rdma/testing/fabric/fake_fabric.h"

namespace farcall::doctor {
namespace {

TEST(HostTest, CapabilityAndNamespaceOfUsers) {
  const node::FixtureTree tree(
      "proc/self/status = Name: x\\nCapEff:\t0000000000004000\n"
      "proc/self/uid_map = 0          0 4294967295\n");
  const MemoryFacts facts = ReadMemoryFacts(tree.root());
  EXPECT_TRUE(facts.may_lock);
  EXPECT_TRUE(facts.first_user_namespace);
  EXPECT_TRUE(facts.soft_limit.has_value());
  tree.Apply(
      "proc/self/status = Name: x\\nCapEff:\t00000000a80425fb\n"
      "proc/self/uid_map = 0 100000 65536\n");
  EXPECT_FALSE(ReadMemoryFacts(tree.root()).may_lock) << "what containers have";
  EXPECT_FALSE(ReadMemoryFacts(tree.root()).first_user_namespace);
}

TEST(HostTest, NothingIsReadable) {
  const node::FixtureTree tree("");
  EXPECT_FALSE(ReadMemoryFacts(tree.root()).may_lock);
  EXPECT_EQ(ReadHugePageFacts(tree.root()).transparent, "");
  EXPECT_FALSE(ReadHugePageFacts(tree.root()).cgroup_bytes.has_value());
  const DeviceFileFacts files = ReadDeviceFiles(tree.root());
  EXPECT_FALSE(files.directory);
  EXPECT_TRUE(files.uverbs.empty());
  EXPECT_EQ(files.rdma_cm.error, ENOENT);
  EXPECT_FALSE(ReadRelaxedOrdering("mlx5_0", tree.root()).has_value());
}

TEST(HostTest, HugePages) {
  const node::FixtureTree tree(
      "sys/kernel/mm/transparent_hugepage/enabled = always [madvise] never\n"
      "sys/fs/cgroup/hugetlb.2MB.max = 0\n");
  EXPECT_EQ(ReadHugePageFacts(tree.root()).transparent, "madvise");
  EXPECT_EQ(ReadHugePageFacts(tree.root()).cgroup_bytes, uint64_t{0});
  tree.Apply("sys/fs/cgroup/hugetlb.2MB.max = max\n");
  EXPECT_FALSE(ReadHugePageFacts(tree.root()).cgroup_bytes.has_value());
}

TEST(HostTest, DeviceFiles) {
  const node::FixtureTree tree = node::FixtureTree::Named("cx7_roce");
  DeviceFileFacts files = ReadDeviceFiles(tree.root());
  EXPECT_TRUE(files.directory);
  ASSERT_EQ(files.uverbs.size(), 2u);
  EXPECT_EQ(files.uverbs[0].path, "/dev/infiniband/uverbs0");
  EXPECT_EQ(files.uverbs[0].error, 0);
  EXPECT_EQ(files.uverbs_of["mlx5_1"], "uverbs1");
  EXPECT_EQ(files.rdma_cm.error, 0);
  EXPECT_FALSE(files.rdma_cm.owner.empty());
  tree.Remove("dev/infiniband/rdma_cm");
  EXPECT_EQ(ReadDeviceFiles(tree.root()).rdma_cm.error, ENOENT);
}

TEST(HostTest, TheTrafficClassIsReadAsTheLibraryReadsIt) {
  for (const char* text : {"104", "0x68", "af31", "AF31"}) {
    setenv("FARCALL_TRAFFIC_CLASS", text, 1);
    EXPECT_EQ(ReadSettings().traffic_class, 104u) << text;
    EXPECT_EQ(ReadSettings().error, "");
  }
  setenv("FARCALL_TRAFFIC_CLASS", "DSCP 26", 1);
  EXPECT_FALSE(ReadSettings().traffic_class.has_value());
  EXPECT_NE(ReadSettings().error.find("DSCP 26"), std::string::npos);
  setenv("FARCALL_TRAFFIC_CLASS", "", 1);
  EXPECT_FALSE(ReadSettings().traffic_class.has_value());
  EXPECT_EQ(ReadSettings().error, "");
  unsetenv("FARCALL_TRAFFIC_CLASS");
  EXPECT_FALSE(ReadSettings().traffic_class.has_value());
}

TEST(HostTest, AtLeastOneLoopAndNoMoreThanTheLibraryMakes) {
  EXPECT_GE(DefaultLoops(), 1);
  EXPECT_LE(DefaultLoops(), 8);
}

// The list of capabilities begins at 0x34: here 0x40 (power, 0x01), then 0x60 (Express, 0x10).
std::string ConfigSpace(char device_control) {
  std::string bytes(256, '\0');
  bytes[0x34] = 0x40;
  bytes[0x40] = 0x01;
  bytes[0x41] = 0x60;
  bytes[0x60] = 0x10;
  bytes[0x68] = device_control;
  return bytes;
}

TEST(RelaxedOrderingTest, IsABitOfDeviceControl) {
  EXPECT_EQ(RelaxedOrderingOf(ConfigSpace(0x10)), true);
  EXPECT_EQ(RelaxedOrderingOf(ConfigSpace(0x2f)), false);
}

TEST(RelaxedOrderingTest, IsNotKnownToOthersThanRootOrWithoutExpress) {
  const std::string whole = ConfigSpace(0x10);
  for (const size_t size : {size_t{0}, size_t{0x34}, size_t{64}, size_t{0x69}}) {
    EXPECT_FALSE(RelaxedOrderingOf(whole.substr(0, size)).has_value()) << size;
  }
  EXPECT_FALSE(RelaxedOrderingOf(std::string(256, '\0')).has_value());
  std::string endless(256, '\0');
  endless[0x34] = endless[0x41] = 0x40;
  EXPECT_FALSE(RelaxedOrderingOf(endless).has_value()) << "a list that goes round";
}

TEST(QueuesTest, AnInterfaceWithoutThemSaysWhy) {
  const Dcb dcb = ReadDcb("lo");
  EXPECT_NE(dcb.error, "");
  EXPECT_FALSE(dcb.pfc.has_value());
  const QueueCounters counters = ReadQueueCounters("lo", dcb);
  EXPECT_NE(counters.error, "");
  EXPECT_FALSE(counters.known());
  for (const char* name : {"", "no-such-one", "longer-than-any-interface"}) {
    EXPECT_NE(ReadDcb(name).error, "") << name;
    EXPECT_NE(ReadQueueCounters(name, Dcb()).error, "") << name;
  }
  EXPECT_EQ(ReadDcbs({"lo"}).at("lo").error, dcb.error);
  EXPECT_TRUE(MovedOf(ReadCounters({"lo"}), {}).empty());
}

TEST(VerbsTest, LibrariesThatDoNotLoad) {
  EXPECT_EQ(ReadLibraries(absl::FailedPreconditionError("libx is not there")).error,
            "libx is not there");
  EXPECT_EQ(ReadLibraries(absl::OkStatus()).error, "");
}

TEST(VerbsTest, DevicesTellCapabilitiesMtuAndInline) {
  FakeFabricOptions options;
  options.devices[0].max_inline_data = 128;
  options.devices[1].permitted = false;
  FakeFabric fabric(options);
  const auto devices = ReadVerbsDevices(fabric.api(), {{"10.9.0.1", "eth0"}, {"192.0.2.9", "x"}});
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0].name, "fakeA");
  EXPECT_EQ(devices[0].error, "");
  EXPECT_EQ(devices[0].max_srq, 1000);
  EXPECT_EQ(devices[0].mtu.at(1), 4096u);
  ASSERT_TRUE(devices[0].max_inline.has_value());
  EXPECT_LE(*devices[0].max_inline, 128u);
  EXPECT_EQ(devices[1].error, "Permission denied");
  EXPECT_EQ(ChannelError(fabric.api()), "");
}

}  // namespace
}  // namespace farcall::doctor
