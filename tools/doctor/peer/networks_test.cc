// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/peer/networks.h"

#include <gtest/gtest.h>

namespace farcall::doctor {
namespace {

bool Has(const char* networks, const char* ip) {
  return Networks::Parse(networks).value().Contains(IpWithPort(ip, 7).value());
}

TEST(NetworksTest, AddressesWithinByTheirFirstBits) {
  EXPECT_TRUE(Has("10.9.0.0/20", "10.9.15.255"));
  EXPECT_FALSE(Has("10.9.0.0/20", "10.9.16.0"));
  EXPECT_TRUE(Has("192.168.0.0/16,10.0.0.0/8", "10.255.0.1"));
  EXPECT_TRUE(Has("fd00:1::/33", "fd00:1:7fff::1"));
  EXPECT_FALSE(Has("fd00:1::/33", "fd00:1:8000::1"));
  EXPECT_TRUE(Has("0.0.0.0/0", "192.0.2.1"));
}

TEST(NetworksTest, FamiliesDoNotMix) {
  EXPECT_FALSE(Has("0.0.0.0/0", "fd00::1"));
  EXPECT_FALSE(Has("::/0", "10.0.0.1"));
}

TEST(NetworksTest, WithoutALengthItIsOneAddress) {
  EXPECT_TRUE(Has("10.0.0.1", "10.0.0.1"));
  EXPECT_FALSE(Has("10.0.0.1", "10.0.0.0"));
  EXPECT_FALSE(Networks().Contains(IpWithPort("10.0.0.1", 1).value())) << "none";
}

TEST(NetworksTest, WhatIsNoneIsNamed) {
  for (const char* const text : {"", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "::/129", "name",
                                 "10.0.0.0/8,", "10.0.0.0/8/8", "10.0.0.0/x", "[::]/0"}) {
    EXPECT_FALSE(Networks::Parse(text).ok()) << text;
  }
  EXPECT_EQ(Networks::Parse("10.0.0.0/8,lan").status().message(),
            "\"lan\" is no network, as 10.0.0.0/8 or fd00::/8 is");
}

}  // namespace
}  // namespace farcall::doctor
