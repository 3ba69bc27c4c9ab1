// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/device/device.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "transport/base/clock.h"
#include "transport/buffer/block_pool.h"
#include "transport/rdma/verbs/testing/scripted_verbs.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

TEST(QueryDeviceTest, TellsWhatTheDeviceSays) {
  ScriptedVerbs verbs;
  ScriptedDevice& device = verbs.AddDevice("mlx5_0");
  device.attr.max_qp_wr = 1234;
  device.AddGid("fe80::1", 7);
  device.AddGid("10.9.0.1", 7);
  const auto info = QueryDevice(verbs.api(), &device.context);
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->name, "mlx5_0");
  EXPECT_EQ(info->caps.max_qp_wr, 1234);
  EXPECT_TRUE(info->active());
  EXPECT_GT(info->caps.max_srq, 0);
  EXPECT_EQ(info->link_layer(), LinkLayer::kRoce);
  ASSERT_EQ(info->ports.size(), 1u);
  EXPECT_EQ(info->ports[0].number, 1);
  EXPECT_EQ(info->ports[0].active_mtu, 4096u);
  ASSERT_EQ(info->gids.size(), 2u);
  EXPECT_EQ(info->gids[0].address, *Address::Parse("[fe80::1]:0"));
  EXPECT_EQ(info->gids[1].address, *Address::Parse("10.9.0.1:0"));
  EXPECT_EQ(info->gids[1].index, 1u);
  EXPECT_EQ(info->gids[1].port, 1);
  EXPECT_EQ(info->gids[1].type, IBV_GID_TYPE_ROCE_V2);
  EXPECT_EQ(info->gids[1].interface_index, 7u);
}

TEST(QueryDeviceTest, LinkLayerFollowsFromTransportAndPort) {
  ScriptedVerbs verbs;
  ScriptedDevice& device = verbs.AddDevice("mlx5_0");
  const auto layer = [&](ibv_transport_type transport, uint8_t link) {
    device.device.transport_type = transport;
    device.port.link_layer = link;
    return QueryDevice(verbs.api(), &device.context)->link_layer();
  };
  EXPECT_EQ(layer(IBV_TRANSPORT_IB, IBV_LINK_LAYER_ETHERNET), LinkLayer::kRoce);
  EXPECT_EQ(layer(IBV_TRANSPORT_IB, IBV_LINK_LAYER_INFINIBAND), LinkLayer::kInfiniBand);
  EXPECT_EQ(layer(IBV_TRANSPORT_IB, IBV_LINK_LAYER_UNSPECIFIED), LinkLayer::kInfiniBand);
  EXPECT_EQ(layer(IBV_TRANSPORT_IWARP, IBV_LINK_LAYER_ETHERNET), LinkLayer::kIwarp);
  EXPECT_EQ(layer(IBV_TRANSPORT_USNIC_UDP, IBV_LINK_LAYER_ETHERNET), LinkLayer::kUnknown);
  EXPECT_EQ(LinkLayerName(LinkLayer::kRoce), "RoCE");
  EXPECT_EQ(LinkLayerName(LinkLayer::kInfiniBand), "InfiniBand");
  EXPECT_EQ(LinkLayerName(LinkLayer::kIwarp), "iWARP");
  EXPECT_EQ(LinkLayerName(LinkLayer::kUnknown), "unknown");
}

TEST(QueryDeviceTest, TheFirstActivePortSpeaks) {
  DeviceInfo info;
  EXPECT_FALSE(info.active());
  EXPECT_EQ(info.link_layer(), LinkLayer::kUnknown);
  info.ports = {{1, false, LinkLayer::kInfiniBand, 4096}};
  EXPECT_FALSE(info.active());
  EXPECT_EQ(info.link_layer(), LinkLayer::kInfiniBand);
  info.ports.push_back({2, true, LinkLayer::kRoce, 1024});
  EXPECT_TRUE(info.active());
  EXPECT_EQ(info.link_layer(), LinkLayer::kRoce);
}

TEST(QueryDeviceTest, SoftwareDriversDoNotTellTheLastReceive) {
  DeviceInfo info;
  EXPECT_TRUE(info.tells_last_receive());
  for (const uint32_t vendor : {0xffffffu, 0x626d74u}) {  // rxe, siw
    info.caps.vendor_id = vendor;
    EXPECT_FALSE(info.tells_last_receive());
  }
}

TEST(QueryDeviceTest, SoftRoceBindsAgain) {
  DeviceInfo info;
  EXPECT_FALSE(info.binds_again());
  info.caps.vendor_id = 0xffffff;
  EXPECT_TRUE(info.binds_again());
}

TEST(QueryDeviceTest, AnErrorNamesDeviceAndCall) {
  ScriptedVerbs verbs;
  ScriptedDevice& device = verbs.AddDevice("mlx5_0");
  for (const char* const call : {"ibv_query_device", "ibv_query_port", "ibv_query_gid_table"}) {
    verbs.Fail(call, EIO);
    const absl::Status status = QueryDevice(verbs.api(), &device.context).status();
    EXPECT_EQ(ReasonOf(status), WhyNotRdma::kDeviceRefused);
    const std::string wanted = std::string("mlx5_0: ") + call + ": Input/output error";
    EXPECT_NE(status.message().find(wanted), absl::string_view::npos) << status;
    verbs.Fail(call, 0);
  }
}

TEST(RdmaDeviceTest, HasADomainAndThePoolAsLongAsItLives) {
  ScriptedVerbs verbs;
  ScriptedDevice& scripted = verbs.AddDevice("mlx5_0");
  SteadyClock clock;
  const auto loop = *EventLoop::Create(clock);
  RdmaRegistrar registrar;
  registrar.Attach(*loop);
  const auto pool = *BlockPool::Create({}, &registrar);
  const BlockRef block = pool->Allocate(1);
  const DeviceInfo info = *QueryDevice(verbs.api(), &scripted.context);

  verbs.calls.clear();
  auto device = RdmaDevice::Open(verbs.api(), &scripted.context, 2, info, registrar, true);
  ASSERT_TRUE(device.ok());
  EXPECT_EQ((*device)->name(), "mlx5_0");
  EXPECT_EQ((*device)->index(), 2u);
  EXPECT_EQ((*device)->context(), &scripted.context);
  EXPECT_NE((*device)->pd(), nullptr);
  EXPECT_TRUE(block->keys->lkey(2).has_value());
  device->reset();
  EXPECT_FALSE(block->keys->lkey(2).has_value());
  EXPECT_EQ(verbs.calls, (std::vector<std::string>{"ibv_alloc_pd", "ibv_reg_mr", "ibv_dereg_mr",
                                                   "ibv_dealloc_pd"}));
}

TEST(RdmaDeviceTest, WhatCannotBeOpenedLeavesNothingBehind) {
  ScriptedVerbs verbs;
  ScriptedDevice& scripted = verbs.AddDevice("mlx5_0");
  SteadyClock clock;
  const auto loop = *EventLoop::Create(clock);
  RdmaRegistrar registrar;
  registrar.Attach(*loop);
  const auto pool = *BlockPool::Create({}, &registrar);
  const BlockRef block = pool->Allocate(1);
  const DeviceInfo info = *QueryDevice(verbs.api(), &scripted.context);
  for (const char* const call : {"ibv_alloc_pd", "ibv_reg_mr"}) {
    verbs.Fail(call, EINVAL);
    const absl::Status status =
        RdmaDevice::Open(verbs.api(), &scripted.context, 0, info, registrar, true).status();
    EXPECT_EQ(ReasonOf(status), WhyNotRdma::kDeviceRefused);
    EXPECT_NE(status.message().find(std::string("mlx5_0: ") + call), absl::string_view::npos)
        << status;
    EXPECT_EQ(verbs.live, 0);
    verbs.Fail(call, 0);
  }
}

}  // namespace
}  // namespace farcall
