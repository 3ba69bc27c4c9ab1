// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/device/local_addresses.h"

#include <gtest/gtest.h>
#include <net/if.h>
#include <sys/resource.h>

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
  const auto addresses = LocalAddresses();
  ASSERT_TRUE(addresses.ok()) << addresses.status();
  for (const LocalIp& ip : *addresses) {
    EXPECT_TRUE(ReachableByPeers(ip.address)) << ip.address.ToString();
    EXPECT_EQ(ip.address.port(), 0);
    EXPECT_EQ(ip.address.scope_id(), 0u);
    EXPECT_EQ(if_nametoindex(ip.interface.c_str()), ip.interface_index);
    EXPECT_NE(ip.interface_index, 0u);
  }
}

TEST(LocalAddressesTest, WithoutADescriptorTheyAreNotReadRatherThanNone) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none{0, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const absl::Status status = LocalAddresses().status();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "getifaddrs: Too many open files (raise RLIMIT_NOFILE, ulimit -n)");
}

}  // namespace
}  // namespace farcall
