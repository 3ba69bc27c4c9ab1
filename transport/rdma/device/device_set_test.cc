// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/device/device_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "transport/base/check.h"
#include "transport/base/clock.h"
#include "transport/buffer/block_pool.h"
#include "transport/rdma/verbs/testing/scripted_verbs.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

// A host with the addresses 10.9.0.1 and 10.9.0.2, and no files of devices.
class DeviceSetTest : public ::testing::Test {
 protected:
  DeviceSetTest() {
    registrar_.Attach(*loop_);
    auto made = BlockPool::Create({}, &registrar_);
    Check(made.ok(), "the defaults are valid");
    pool_ = *std::move(made);
    options_.set_up = RdmaSetUp::kRdmaCm;
    host_.addresses = [this] { return addresses_; };
    host_.sys_class = host_.dev_directory = ::testing::TempDir() + "/none";
  }
  ~DeviceSetTest() override { set_.reset(); }

  ScriptedDevice& Add(const std::string& name, const std::string& gid) {
    ScriptedDevice& device = verbs_.AddDevice(name);
    device.AddGid(gid, 7);
    return device;
  }
  DeviceSet& Set() {
    if (!set_) set_.emplace(verbs_.api(), options_, registrar_, log_, host_);
    return *set_;
  }
  int64_t OpenOnes() {
    const std::vector<RdmaDeviceStatus> all = Set().Statuses();
    return std::count_if(all.begin(), all.end(), [](const auto& device) { return device.open; });
  }
  void ExpectNone(const absl::Status& status, WhyNotRdma why, const std::string& detail) {
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(Name(ReasonOf(status)), Name(why));
    EXPECT_NE(status.message().find(detail), absl::string_view::npos) << status;
  }

  ScriptedVerbs verbs_;
  SteadyClock clock_;
  const std::unique_ptr<EventLoop> loop_ = *EventLoop::Create(clock_);
  RdmaRegistrar registrar_;
  std::unique_ptr<BlockPool> pool_;
  RdmaOptions options_;
  absl::StatusOr<std::vector<LocalIp>> addresses_ = std::vector<LocalIp>{
      {*Address::Parse("10.9.0.1:0"), "eth0", 7}, {*Address::Parse("10.9.0.2:0"), "eth1", 8}};
  HostView host_;
  std::vector<std::string> logged_;
  const EpisodeLog::Sink log_ = [this](absl::string_view line) { logged_.emplace_back(line); };
  std::optional<DeviceSet> set_;
};

TEST_F(DeviceSetTest, NothingIsKnownBeforeTheFirstLook) {
  ExpectNone(Set().Availability(), WhyNotRdma::kPending, "no device was looked for");
  EXPECT_TRUE(verbs_.calls.empty());
}

TEST_F(DeviceSetTest, ADeviceWithAnAddressOfThisHostIsUsable) {
  Add("mlx5_0", "10.9.0.1");
  EXPECT_TRUE(Set().Refresh().ok());
  ASSERT_EQ(Set().Usable().size(), 1u);
  EXPECT_EQ(Set().Usable()[0]->name, "mlx5_0");
  EXPECT_EQ(OpenOnes(), 0);
  EXPECT_EQ(verbs_.live, 0);
}

TEST_F(DeviceSetTest, TheStatusOfAPortHasWhatTheKernelCountedOfLostPackets) {
  Add("mlx5_0", "10.9.0.1");
  host_.sys_class = ::testing::TempDir() + "/with-losses";
  const std::string folder = host_.sys_class + "/infiniband/mlx5_0/ports/1/hw_counters";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/out_of_sequence") << "5\n";
  EXPECT_TRUE(Set().Refresh().ok());
  const std::vector<RdmaDeviceStatus> all = Set().Statuses();
  ASSERT_EQ(all.size(), 1u);
  ASSERT_EQ(all[0].ports.size(), 1u);
  ASSERT_EQ(all[0].ports[0].losses.size(), 1u);
  EXPECT_EQ(all[0].ports[0].losses[0].name, "out_of_sequence");
  EXPECT_EQ(all[0].ports[0].losses[0].count, 5u);
}

TEST_F(DeviceSetTest, WithoutDevicesThereIsNone) {
  ExpectNone(Set().Refresh(), WhyNotRdma::kNoDevice, "/none/infiniband");
}

TEST_F(DeviceSetTest, ADeviceThatCannotBeOpenedIsNamedWithItsFile) {
  ScriptedDevice& device = Add("mlx5_0", "10.9.0.1");
  device.closed_to_us = true;
  absl::string_view("uverbs3").copy(device.device.dev_name, 7);
  ExpectNone(Set().Refresh(), WhyNotRdma::kDeviceNotPermitted, "mlx5_0: ");
  ExpectNone(Set().Availability(), WhyNotRdma::kDeviceNotPermitted, "/none/uverbs3: ");
}

TEST_F(DeviceSetTest, OnlyTheDevicesThatAreNamedAreUsed) {
  Add("mlx5_0", "10.9.0.1");
  ScriptedDevice& second = Add("mlx5_1", "10.9.0.2");
  options_.devices = {"mlx5_1"};
  EXPECT_TRUE(Set().Refresh().ok());
  EXPECT_EQ(Set().Usable().size(), 1u);
  ExpectNone(Set().Find(&verbs_.devices[0]->context).status(), WhyNotRdma::kDeviceExcluded,
             "mlx5_0");
  EXPECT_TRUE(Set().Find(&second.context).ok());
}

TEST_F(DeviceSetTest, AWrongFilterNamesWhatIsThere) {
  Add("mlx5_0", "10.9.0.1");
  options_.devices = {"mlx5_7", "mlx5_8"};
  ExpectNone(Set().Refresh(), WhyNotRdma::kDeviceExcluded,
             "mlx5_0 is not in RdmaOptions.devices: mlx5_7, mlx5_8");
}

TEST_F(DeviceSetTest, TheReasonIsTheOneNearestToUse) {
  Add("mlx5_0", "10.9.0.1").port.state = IBV_PORT_DOWN;
  ExpectNone(Set().Refresh(), WhyNotRdma::kNoActivePort, "mlx5_0");
  Add("mlx5_1", "10.9.0.77");
  ExpectNone(Set().Refresh(), WhyNotRdma::kNoAddress, "(no_active_port: mlx5_0; mlx5_1)");
  options_.devices = {"mlx5_0"};
  ExpectNone(Set().Refresh(), WhyNotRdma::kNoActivePort, "mlx5_1 is not in");
  options_.devices = {};
  Add("mlx5_2", "10.9.0.2");
  EXPECT_TRUE(Set().Refresh().ok());
}

TEST_F(DeviceSetTest, AnInterfaceOfAnotherNamespaceIsNoAddress) {
  ScriptedDevice& device = verbs_.AddDevice("mlx5_0");
  device.AddGid("fe80::1", 7);
  device.AddGid("10.9.0.1", 0);
  ExpectNone(Set().Refresh(), WhyNotRdma::kNoAddress, "mlx5_0");
  device.gids[1].ndev_ifindex = 7;
  EXPECT_TRUE(Set().Refresh().ok());
}

TEST_F(DeviceSetTest, WithSetUpOverTcpAloneAnAddressDoesNotHelp) {
  ScriptedDevice& device = Add("siw0", "10.9.0.1");
  options_.set_up = RdmaSetUp::kOverTcp;
  EXPECT_TRUE(Set().Refresh().ok());
  device.device.transport_type = IBV_TRANSPORT_IWARP;
  ExpectNone(Set().Refresh(), WhyNotRdma::kNoAddress, "siw0 (rdma.set_up is tcp");
}

TEST_F(DeviceSetTest, WhereGidsAreNoAddressesAnyAddressWillDo) {
  ScriptedDevice& device = verbs_.AddDevice("siw0");
  device.device.transport_type = IBV_TRANSPORT_IWARP;
  EXPECT_TRUE(Set().Refresh().ok());
  device.device.transport_type = IBV_TRANSPORT_IB;
  device.port.link_layer = IBV_LINK_LAYER_INFINIBAND;
  EXPECT_TRUE(Set().Refresh().ok());
  addresses_->clear();
  ExpectNone(Set().Refresh(), WhyNotRdma::kNoAddress, "siw0");
}

TEST_F(DeviceSetTest, AddressesThatCannotBeReadAreNotMissing) {
  ScriptedDevice& device = Add("mlx5_0", "10.9.0.1");
  const auto known = addresses_;
  const absl::Status unread = absl::ResourceExhaustedError("getifaddrs: Too many open files");
  addresses_ = unread;
  ExpectNone(Set().Refresh(), WhyNotRdma::kDeviceRefused, "mlx5_0: getifaddrs: Too many open");
  addresses_ = known;
  EXPECT_TRUE(Set().Refresh().ok());
  ASSERT_TRUE(Set().Find(&device.context).ok());
  addresses_ = unread;
  EXPECT_TRUE(Set().Refresh().ok()) << "one that is open has an address";
  EXPECT_TRUE(Set().WhyNot(&device.context).ok());
}

TEST_F(DeviceSetTest, ADeviceIsOpenedOnceWithAnIndexOfItsOwn) {
  ScriptedDevice& first = Add("mlx5_0", "10.9.0.1");
  ScriptedDevice& second = Add("mlx5_1", "10.9.0.2");
  const BlockRef block = pool_->Allocate(1);
  const auto a = Set().Find(&first.context);
  const auto b = Set().Find(&second.context);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ((*a)->name(), "mlx5_0");
  EXPECT_NE((*a)->index(), (*b)->index());
  EXPECT_EQ(*Set().Find(&first.context), *a);
  EXPECT_NE(*a, *b);
  EXPECT_EQ(OpenOnes(), 2);
  for (RdmaDevice* const device : {*a, *b}) {
    EXPECT_TRUE(block->keys->lkey(device->index()).has_value());
  }
}

TEST_F(DeviceSetTest, WhatRdmaCmHasFoundNeedsNoJudgement) {
  ScriptedDevice& device = Add("mlx5_0", "10.9.0.77");
  EXPECT_FALSE(Set().Refresh().ok());
  EXPECT_TRUE(Set().Find(&device.context).ok());
  EXPECT_TRUE(Set().Availability().ok());
  device.port.state = IBV_PORT_DOWN;
  ExpectNone(Set().Refresh(), WhyNotRdma::kNoActivePort, "mlx5_0");
}

TEST_F(DeviceSetTest, AFailureToOpenIsTheReasonUntilTheNextLook) {
  ScriptedDevice& device = Add("mlx5_0", "10.9.0.1");
  verbs_.Fail("ibv_alloc_pd", ENOMEM);
  EXPECT_TRUE(Set().Refresh().ok());
  ExpectNone(Set().Find(&device.context).status(), WhyNotRdma::kDeviceRefused, "ibv_alloc_pd");
  const absl::Status status = Set().Availability();
  ExpectNone(status, WhyNotRdma::kDeviceRefused, "(mlx5_0: ibv_alloc_pd: Cannot allocate memory)");
  EXPECT_EQ(status.message(), Set().Find(&device.context).status().message());
  ASSERT_EQ(logged_.size(), 2u);
  EXPECT_NE(logged_[1].find("ibv_alloc_pd"), std::string::npos);
  verbs_.Fail("ibv_alloc_pd", 0);
  EXPECT_TRUE(Set().Refresh().ok());
  EXPECT_TRUE(Set().Find(&device.context).ok());
}

TEST_F(DeviceSetTest, ADeviceThatCannotBeAskedIsTold) {
  Add("mlx5_0", "10.9.0.1");
  verbs_.Fail("ibv_query_port", EIO);
  ExpectNone(Set().Refresh(), WhyNotRdma::kDeviceRefused, "mlx5_0: ibv_query_port");
}

TEST_F(DeviceSetTest, ADeviceThatWentAwayKeepsItsContextUntilItIsRemoved) {
  ScriptedDevice& first = Add("mlx5_0", "10.9.0.1");
  Add("mlx5_1", "10.9.0.2");
  RdmaDevice* const device = *Set().Find(&first.context);
  EXPECT_EQ(verbs_.lists, 1);
  first.unplugged = true;
  EXPECT_TRUE(Set().Refresh().ok());
  EXPECT_EQ(Set().Gone(), (std::vector<RdmaDevice*>{device}));
  EXPECT_EQ(verbs_.lists, 2);
  ExpectNone(Set().Find(&first.context).status(), WhyNotRdma::kNoDevice, "removed");
  Set().Remove(&first.context);
  EXPECT_TRUE(Set().Gone().empty());
  EXPECT_EQ(OpenOnes(), 0);
  EXPECT_EQ(verbs_.live, 0);
  EXPECT_EQ(verbs_.lists, 1);
  EXPECT_TRUE(Set().Availability().ok());

  first.unplugged = false;
  EXPECT_TRUE(Set().Find(&first.context).ok());
}

TEST_F(DeviceSetTest, TheLastDeviceMayGoToo) {
  ScriptedDevice& device = Add("mlx5_0", "10.9.0.1");
  ASSERT_TRUE(Set().Find(&device.context).ok());
  verbs_.Fail("rdma_get_devices", ENODEV);
  device.unplugged = true;
  Set().Remove(&device.context);
  ExpectNone(Set().Availability(), WhyNotRdma::kNoDevice, "");
  // librdmacm must not let go of its last one.
  EXPECT_EQ(verbs_.lists, 1);
  ExpectNone(Set().Find(&device.context).status(), WhyNotRdma::kNoDevice, "removed");
}

TEST_F(DeviceSetTest, ARemovedDeviceGivesItsIndexBack) {
  ScriptedDevice& device = Add("mlx5_0", "10.9.0.1");
  for (size_t i = 0; i < kMaxRdmaDevices + 1; ++i) {
    ASSERT_TRUE(Set().Find(&device.context).ok());
    Set().Remove(&device.context);
  }
}

TEST_F(DeviceSetTest, ThereIsALimitOfDevicesInUse) {
  for (size_t i = 0; i <= kMaxRdmaDevices; ++i) Add("mlx5_" + std::to_string(i), "10.9.0.1");
  for (size_t i = 0; i < kMaxRdmaDevices; ++i) {
    ASSERT_TRUE(Set().Find(&verbs_.devices[i]->context).ok());
  }
  ExpectNone(Set().Find(&verbs_.devices.back()->context).status(), WhyNotRdma::kCapacity,
             "mlx5_16: 16 devices are in use");
}

TEST_F(DeviceSetTest, TheChoiceIsLoggedWhenItChanges) {
  Add("mlx5_0", "10.9.0.1");
  ScriptedDevice& second = Add("mlx5_1", "10.9.0.2");
  second.port.state = IBV_PORT_DOWN;
  for (int i = 0; i < 3; ++i) static_cast<void>(Set().Refresh());
  second.port.state = IBV_PORT_ACTIVE;
  for (int i = 0; i < 3; ++i) static_cast<void>(Set().Refresh());
  verbs_.devices[0]->port.state = second.port.state = IBV_PORT_DOWN;
  for (int i = 0; i < 3; ++i) static_cast<void>(Set().Refresh());
  ASSERT_EQ(logged_.size(), 3u);
  EXPECT_EQ(logged_[0], "RDMA devices: mlx5_0 (RoCE); not used: mlx5_1 (no_active_port)");
  EXPECT_EQ(logged_[1], "RDMA devices: mlx5_0 (RoCE), mlx5_1 (RoCE)");
  EXPECT_EQ(logged_[2], "no RDMA device: " + std::string(Set().Availability().message()));
}

}  // namespace
}  // namespace farcall
