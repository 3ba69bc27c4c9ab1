// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/device/device_place.h"

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace farcall {
namespace {

class DevicePlaceTest : public testing::Test {
 protected:
  DevicePlaceTest() {
    info_.name = "mlx5_0";
    info_.ports = {{1, true, LinkLayer::kRoce, 4096}, {2, true, LinkLayer::kRoce, 4096}};
  }
  ~DevicePlaceTest() override { std::filesystem::remove_all(sys_class_); }

  void Write(const std::string& file, const std::string& text) {
    const std::filesystem::path path = absl::StrCat(sys_class_, "/infiniband/mlx5_0/", file);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  void AddGid(uint8_t port, const Address& address, uint32_t interface_index = 3) {
    DeviceGid gid;
    gid.port = port;
    gid.interface_index = interface_index;
    gid.address = address;
    info_.gids.push_back(gid);
  }

  const std::string sys_class_ = testing::TempDir() + "/place-sys-class";
  DeviceInfo info_;
  LocalIp local_{Address::Ipv4({10, 0, 0, 1}, 0), "eth0", 3};
};

TEST_F(DevicePlaceTest, IsReadFromTheKernelsFiles) {
  Write("device/numa_node", "1");
  Write("ports/1/pkeys/0", "0xffff");
  Write("ports/2/pkeys/0", "0x8001");
  ReadPlace(sys_class_, 0, info_);
  EXPECT_EQ(info_.numa_node, 1);
  EXPECT_EQ(info_.ports[0].partition, 0xffff);
  EXPECT_EQ(info_.ports[1].partition, 0x8001);
}

TEST_F(DevicePlaceTest, WhatCannotBeReadStaysUntold) {
  ReadPlace(sys_class_, 0, info_);
  EXPECT_EQ(info_.numa_node, -1);
  EXPECT_EQ(info_.ports[0].partition, 0);
  Write("device/numa_node", "-1");
  Write("ports/1/pkeys/0", "");
  ReadPlace(sys_class_, 0, info_);
  EXPECT_EQ(info_.numa_node, -1) << "the kernel knows none";
  EXPECT_EQ(info_.ports[0].partition, 0);
}

TEST_F(DevicePlaceTest, APartitionIsFoundByItsKeyWithOrWithoutTheBitOfFullMembers) {
  info_.ports[0].link_layer = LinkLayer::kInfiniBand;
  Write("ports/1/pkeys/0", "0xffff");
  Write("ports/1/pkeys/1", "0x0000");
  Write("ports/1/pkeys/2", "0x8001");
  for (const uint16_t wanted : {0x8001, 0x0001}) {
    ReadPlace(sys_class_, wanted, info_);
    EXPECT_EQ(info_.ports[0].partition, 0x8001);
    EXPECT_EQ(info_.ports[0].partition_index, 2);
  }
  EXPECT_EQ(info_.ports[1].partition_index, 0) << "RoCE has one for all";
  ReadPlace(sys_class_, 0x8002, info_);
  EXPECT_EQ(info_.ports[0].partition_index, std::nullopt);
  ReadPlace(sys_class_, 0, info_);
  EXPECT_EQ(info_.ports[0].partition_index, 0);
}

TEST_F(DevicePlaceTest, OfRoceAPortHasTheAddressAmongItsGids) {
  AddGid(2, local_.address, /*interface_index=*/0);
  EXPECT_EQ(PortWith(info_, local_), 0) << "in another network namespace";
  AddGid(2, local_.address);
  EXPECT_EQ(PortWith(info_, local_), 2);
  local_.address = Address::Ipv4({10, 0, 0, 2}, 0);
  EXPECT_EQ(PortWith(info_, local_), 0);
}

TEST_F(DevicePlaceTest, OfInfiniBandTheGidIsInTheHardwareAddress) {
  for (DevicePort& port : info_.ports) port.link_layer = LinkLayer::kInfiniBand;
  AddGid(1, Address());
  info_.gids[0].bytes = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(PortWith(info_, local_), 0);
  local_.hardware = {0, 0, 1, 9, 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(PortWith(info_, local_), 1);
  local_.hardware.back() = 9;
  EXPECT_EQ(PortWith(info_, local_), 0);
}

TEST_F(DevicePlaceTest, OfIwarpTheHardwareAddressIsTheGid) {
  for (DevicePort& port : info_.ports) port.link_layer = LinkLayer::kIwarp;
  AddGid(1, Address());
  info_.gids[0].bytes = {2, 0, 0, 0, 0, 7};
  local_.hardware = {2, 0, 0, 0, 0, 7};
  EXPECT_EQ(PortWith(info_, local_), 1);
  local_.hardware = {2, 0, 0, 0, 0, 8};
  EXPECT_EQ(PortWith(info_, local_), 0);
  local_.hardware.clear();
  EXPECT_EQ(PortWith(info_, local_), 0) << "not known";
}

}  // namespace
}  // namespace farcall
