// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/local_addresses.h"

#include <gtest/gtest.h>
#include <net/if.h>

#include <string>

namespace farcall {
namespace {

bool Reachable(const std::string& address) { return ReachableByPeers(*Address::Parse(address)); }

TEST(LocalAddressesTest, LoopbackAndLinkLocalAddressesMeanNothingToPeers) {
  EXPECT_TRUE(Reachable("10.9.0.1:0"));
  EXPECT_TRUE(Reachable("169.253.0.1:0"));
  EXPECT_TRUE(Reachable("[fd09::1]:0"));
  EXPECT_TRUE(Reachable("[fec0::1]:0"));
  EXPECT_TRUE(Reachable("[2001:db8::1]:0"));
  for (const char* const bad : {"127.0.0.1:0", "127.8.0.1:0", "169.254.3.4:0", "[::1]:0",
                                "[fe80::1]:0", "[febf::1]:0", "[fe80::1%2]:0"}) {
    EXPECT_FALSE(Reachable(bad)) << bad;
  }
  EXPECT_FALSE(ReachableByPeers(Address()));
  EXPECT_FALSE(ReachableByPeers(*Address::Unix("/tmp/x")));
}

TEST(LocalAddressesTest, WhatThisHostHasIsReachableAndNamesItsInterface) {
  for (const LocalIp& ip : LocalAddresses()) {
    EXPECT_TRUE(ReachableByPeers(ip.address)) << ip.address.ToString();
    EXPECT_EQ(ip.address.port(), 0);
    EXPECT_EQ(ip.address.scope_id(), 0u);
    EXPECT_EQ(if_nametoindex(ip.interface.c_str()), ip.interface_index);
    EXPECT_NE(ip.interface_index, 0u);
  }
}

}  // namespace
}  // namespace farcall
