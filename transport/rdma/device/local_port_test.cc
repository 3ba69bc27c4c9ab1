// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/device/local_port.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace farcall {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::array<uint8_t, 16> Gid(const std::string& ip) {
  const Address address = *Address::Parse("[" + ip + "]:0");
  std::array<uint8_t, 16> gid{};
  std::copy_n(address.ip().begin(), gid.size(), gid.begin());
  return gid;
}

class LocalPortTest : public testing::Test {
 protected:
  LocalPortTest() { info_.ports.push_back({1, true, LinkLayer::kRoce, 1024}); }

  void Add(const std::string& ip, ibv_gid_type type) {
    DeviceGid gid;
    gid.port = 1;
    gid.index = static_cast<uint32_t>(info_.gids.size());
    gid.type = type;
    gid.bytes = Gid(ip);
    info_.gids.push_back(gid);
  }
  std::vector<uint32_t> Indices() const {
    std::vector<uint32_t> indices;
    for (const LocalPort& port : LocalPorts(info_, nullptr)) indices.push_back(port.gid_index);
    return indices;
  }

  DeviceInfo info_;
};

TEST_F(LocalPortTest, RoutedPacketsGoBeforeEthernetAndRoutedAddressesBeforeLinkLocal) {
  Add("fe80::1", IBV_GID_TYPE_ROCE_V1);
  Add("fe80::1", IBV_GID_TYPE_ROCE_V2);
  Add("::ffff:10.9.0.1", IBV_GID_TYPE_ROCE_V1);
  Add("::ffff:10.9.0.1", IBV_GID_TYPE_ROCE_V2);
  Add("2001:db8::1", IBV_GID_TYPE_ROCE_V2);
  EXPECT_THAT(Indices(), ElementsAre(3, 4, 1, 2, 0));
}

TEST_F(LocalPortTest, UnusedEntriesAndPortsThatAreDownAreNone) {
  Add("::", IBV_GID_TYPE_ROCE_V2);
  EXPECT_THAT(Indices(), IsEmpty());
  Add("::ffff:10.9.0.1", IBV_GID_TYPE_ROCE_V2);
  EXPECT_THAT(Indices(), ElementsAre(1));
  info_.ports[0].partition_index.reset();
  EXPECT_THAT(Indices(), IsEmpty()) << "not in the partition that is wanted";
  info_.ports[0].partition_index = 0;
  info_.ports[0].active = false;
  EXPECT_THAT(Indices(), IsEmpty());
}

TEST_F(LocalPortTest, InfiniBandHasALidAndIwarpHasNothing) {
  info_.ports[0].link_layer = LinkLayer::kInfiniBand;
  Add("fe80::1", IBV_GID_TYPE_IB);
  EXPECT_THAT(Indices(), IsEmpty()) << "no subnet manager has given it a LID";
  info_.ports[0].lid = 7;
  EXPECT_THAT(Indices(), ElementsAre(0));
  info_.ports[0].link_layer = LinkLayer::kIwarp;
  EXPECT_THAT(Indices(), IsEmpty());
}

TEST_F(LocalPortTest, AnAddressOfThisNamespaceIsBetterThanThatOfAnother) {
  Add("::ffff:10.1.0.1", IBV_GID_TYPE_ROCE_V2);
  Add("::ffff:10.2.0.1", IBV_GID_TYPE_ROCE_V2);
  for (DeviceGid& gid : info_.gids) {
    gid.address = Address::Ipv4({10, gid.bytes[13], gid.bytes[14], gid.bytes[15]}, 0);
  }
  std::vector<LocalPort> ports = LocalPorts(info_, nullptr);
  PutOwnFirst({{Address::Ipv4({10, 2, 0, 1}, 0), "net1", 7}}, ports);
  EXPECT_EQ(ports.front().gid_index, 1u);
}

}  // namespace
}  // namespace farcall
