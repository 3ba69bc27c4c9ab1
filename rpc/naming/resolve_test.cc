// SPDX-License-Identifier: Apache-2.0
//
// Only what a machine without a network answers too.

#include "rpc/naming/resolve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "absl/strings/match.h"

namespace farcall {
namespace {

TEST(ResolveTest, LocalhostIsThisMachine) {
  const auto addresses = Resolve("localhost", 8002);
  ASSERT_TRUE(addresses.ok()) << addresses.status();
  ASSERT_FALSE(addresses->empty());
  EXPECT_LE(addresses->size(), kMaxAddresses);
  for (const Address& address : *addresses) {
    EXPECT_EQ(address.port(), 8002);
    EXPECT_TRUE(address.ToString() == "127.0.0.1:8002" || address.ToString() == "[::1]:8002")
        << address.ToString();
  }
}

TEST(ResolveTest, NumbersResolveToThemselves) {
  const auto ipv4 = Resolve("192.0.2.7", 1);
  ASSERT_TRUE(ipv4.ok()) << ipv4.status();
  ASSERT_EQ(ipv4->size(), 1u);
  EXPECT_EQ(ipv4->front().ToString(), "192.0.2.7:1");

  const auto ipv6 = Resolve("2001:db8::7", 65535);
  ASSERT_TRUE(ipv6.ok()) << ipv6.status();
  ASSERT_EQ(ipv6->size(), 1u);
  EXPECT_EQ(ipv6->front().ToString(), "[2001:db8::7]:65535");
}

TEST(ResolveTest, MappedAddressesAreIpv4) {
  const auto mapped = Resolve("::ffff:192.0.2.7", 1);
  ASSERT_TRUE(mapped.ok()) << mapped.status();
  ASSERT_EQ(mapped->size(), 1u);
  EXPECT_EQ(mapped->front().ToString(), "192.0.2.7:1");
}

// RFC 6761, 6.4: it never exists.
TEST(ResolveTest, ANameThatDoesNotExistIsUnavailableAndNamed) {
  const auto addresses = Resolve("no-such-host.invalid", 80);
  ASSERT_FALSE(addresses.ok());
  EXPECT_EQ(addresses.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(
      absl::StartsWith(addresses.status().message(), "cannot resolve no-such-host.invalid: "))
      << addresses.status();
  EXPECT_GT(addresses.status().message().size(), sizeof("cannot resolve no-such-host.invalid: "));
}

}  // namespace
}  // namespace farcall
