// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/setup/network_status.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace farcall {
namespace {

// As Multus 4 writes it, with a device of the SR-IOV plugin.
constexpr char kMultus[] = R"([{
    "name": "k8s-pod-network",
    "ips": ["10.244.1.23", "fd00:10:244::17"],
    "default": true,
    "dns": {}
},{
    "name": "default/roce-net",
    "interface": "net1",
    "ips": ["10.56.217.171"],
    "mac": "4a:2c:b1:00:00:01",
    "mtu": 4200,
    "dns": {"nameservers": ["10.0.0.1"], "search": []},
    "device-info": {"type": "pci", "version": "1.1.0",
        "pci": {"pci-address": "0000:3b:02.3", "rdma-device": "mlx5_5"}},
    "gateway": ["10.56.217.1"]
},{
    "name": "default/ib-net",
    "interface": "net2",
    "dns": {}
}])";

std::string WhyNot(absl::string_view text) {
  const auto networks = ParseNetworkStatus(text);
  return networks.ok() ? "taken" : std::string(networks.status().message());
}

bool IsSecond(absl::string_view status, const char* address, absl::string_view interface) {
  const auto networks = ParseNetworkStatus(status);
  EXPECT_TRUE(networks.ok()) << networks.status();
  return IsOfSecondNetwork(*networks, *Address::Parse(absl::StrCat(address, ":0")), interface);
}

TEST(NetworkStatusTest, TellsEachNetworkOfThePod) {
  const auto networks = ParseNetworkStatus(kMultus);
  ASSERT_TRUE(networks.ok()) << networks.status();
  ASSERT_EQ(networks->size(), 3u);
  const PodNetwork& first = networks->at(0);
  EXPECT_EQ(first.name, "k8s-pod-network");
  EXPECT_EQ(first.interface, "");
  EXPECT_TRUE(first.is_default);
  ASSERT_EQ(first.addresses.size(), 2u);
  EXPECT_EQ(first.addresses[0].ToString(), "10.244.1.23:0");
  EXPECT_EQ(first.addresses[1].ToString(), "[fd00:10:244::17]:0");
  const PodNetwork& roce = networks->at(1);
  EXPECT_EQ(roce.name, "default/roce-net");
  EXPECT_EQ(roce.interface, "net1");
  EXPECT_FALSE(roce.is_default);
  ASSERT_EQ(roce.addresses.size(), 1u);
  EXPECT_EQ(roce.addresses[0].ToString(), "10.56.217.171:0");
  EXPECT_TRUE(networks->at(2).addresses.empty());
}

TEST(NetworkStatusTest, ASecondNetworkIsKnownByAddressOrInterface) {
  EXPECT_TRUE(IsSecond(kMultus, "10.56.217.171", "renamed"));
  EXPECT_TRUE(IsSecond(kMultus, "10.9.9.9", "net1")) << "an address that somebody added";
  EXPECT_TRUE(IsSecond(kMultus, "10.9.9.9", "net2")) << "one that IPAM did not give";
  EXPECT_FALSE(IsSecond(kMultus, "10.244.1.23", "eth0"));
  EXPECT_FALSE(IsSecond(kMultus, "[fd00:10:244::17]", "eth0"));
  EXPECT_FALSE(IsSecond(kMultus, "10.9.9.9", "net3"));
  EXPECT_FALSE(IsSecond(kMultus, "10.9.9.9", "")) << "no name is not a name";
}

TEST(NetworkStatusTest, TheDefaultNetworkIsNotASecondOneWhateverItSays) {
  const char* const status = R"([{"interface":"eth0","ips":["10.1.1.1"],"default":true}])";
  EXPECT_FALSE(IsSecond(status, "10.1.1.1", "eth0"));
}

TEST(NetworkStatusTest, NoNetworksAreNoError) {
  for (const char* const none : {"[]", " [ ] \n", "[{}]", "[{\"ips\":null,\"default\":null}]"}) {
    EXPECT_FALSE(IsSecond(none, "10.1.1.1", "eth0")) << none;
  }
}

TEST(NetworkStatusTest, AnAddressMayHaveItsPrefix) {
  const char* const status = R"([{"ips":["10.1.1.1/24","fd01::1/64"]}])";
  EXPECT_TRUE(IsSecond(status, "10.1.1.1", ""));
  EXPECT_TRUE(IsSecond(status, "[fd01::1]", ""));
}

TEST(NetworkStatusTest, WhatItIsNotIsSaid) {
  EXPECT_TRUE(absl::EndsWith(WhyNot(""), "it is empty"));
  EXPECT_TRUE(absl::EndsWith(WhyNot(" \n"), "it is empty"));
  EXPECT_TRUE(absl::EndsWith(WhyNot("{\"name\":\"a\"}"), "it is not a JSON array"));
  EXPECT_TRUE(absl::EndsWith(WhyNot("null"), "it is not a JSON array"));
  EXPECT_TRUE(absl::EndsWith(WhyNot(R"([{"ips":["node7"]}])"), "'node7' is not an IP address"));
  EXPECT_TRUE(absl::EndsWith(WhyNot(R"([{"ips":[""]}])"), "'' is not an IP address"));
  EXPECT_TRUE(absl::EndsWith(WhyNot(R"([{"ips":["unix:x"]}])"), "is not an IP address"));
  for (const char* const bad : {"[", "[}]", "[1]", "[\"net1\"]", R"([{"ips":[{}]}])",
                                R"([{"default":"perhaps"}])", R"([{"interface":["net1"]}])",
                                R"([{"interface":{}}])", R"([{"name":"a"])", "[{}]]", "[{}] []"}) {
    EXPECT_TRUE(absl::StartsWith(WhyNot(bad), "it is no network status: ")) << bad;
  }
}

TEST(NetworkStatusTest, ItIsBounded) {
  const std::string padding(kMaxNetworkStatus - 2, ' ');
  EXPECT_EQ(WhyNot("[" + padding + "]"), "taken");
  EXPECT_TRUE(absl::StrContains(WhyNot("[ " + padding + "]"), "more than 262144 bytes"));
  const std::string deep = R"([{"x":)" + std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_NE(WhyNot(deep + "}]"), "") << "deep nesting ends";
  std::string objects;
  for (int i = 0; i < 20'000; ++i) objects += "{\"x\":";
  EXPECT_NE(WhyNot("[" + objects + "1" + std::string(20'000, '}') + "]"), "taken");
}

}  // namespace
}  // namespace farcall
