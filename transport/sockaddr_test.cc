// SPDX-License-Identifier: Apache-2.0

#include "transport/sockaddr.h"

#include <netinet/in.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "gtest/gtest.h"

namespace farcall {
namespace {

void ExpectRoundTrip(const std::string& text, int family) {
  const auto address = Address::Parse(text);
  ASSERT_TRUE(address.ok()) << address.status();
  const auto socket_address = ToSocketAddress(*address);
  ASSERT_TRUE(socket_address.ok());
  EXPECT_EQ(socket_address->family(), family);
  EXPECT_EQ(FromSocketAddress(*socket_address).ToString(), text);
}

TEST(SockaddrTest, AddressesSurviveTheRoundTrip) {
  ExpectRoundTrip("1.2.3.4:80", AF_INET);
  ExpectRoundTrip("[::1]:65535", AF_INET6);
  ExpectRoundTrip("[fe80::1%2]:8000", AF_INET6);
  ExpectRoundTrip("unix:/run/echo.sock", AF_UNIX);
  ExpectRoundTrip("unix:" + std::string(Address::kMaxUnixPath, 'p'), AF_UNIX);
}

TEST(SockaddrTest, PortsAreInNetworkOrder) {
  const auto address = ToSocketAddress(Address::Ipv4({127, 0, 0, 1}, 0x1234));
  ASSERT_TRUE(address.ok());
  sockaddr_in in{};
  std::memcpy(&in, address->get(), sizeof(in));
  EXPECT_EQ(in.sin_port, htons(0x1234));
  EXPECT_EQ(address->length, sizeof(in));
}

TEST(SockaddrTest, NoAddressIsAnError) {
  EXPECT_EQ(ToSocketAddress(Address()).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(SockaddrTest, Ipv4InIpv6IsToldAsIpv4) {
  std::array<uint8_t, 16> ip{};
  ip[10] = ip[11] = 0xff;
  ip[12] = 10;
  ip[15] = 7;
  const auto mapped = ToSocketAddress(Address::Ipv6(ip, 99));
  ASSERT_TRUE(mapped.ok());
  EXPECT_EQ(FromSocketAddress(*mapped).ToString(), "10.0.0.7:99");
}

TEST(SockaddrTest, WhatHasNoAddressIsNone) {
  SocketAddress unnamed;
  unnamed.storage.ss_family = AF_UNIX;
  unnamed.length = offsetof(sockaddr_un, sun_path);
  EXPECT_EQ(FromSocketAddress(unnamed).family(), AddressFamily::kNone);

  SocketAddress abstract = unnamed;
  const char name[] = "\0name";
  std::memcpy(reinterpret_cast<char*>(&abstract.storage) + unnamed.length, name, 5);
  abstract.length += 5;
  EXPECT_EQ(FromSocketAddress(abstract).family(), AddressFamily::kNone);

  SocketAddress cut;
  cut.storage.ss_family = AF_INET;
  cut.length = sizeof(sockaddr_in) - 1;
  EXPECT_EQ(FromSocketAddress(cut).family(), AddressFamily::kNone);
  cut.storage.ss_family = AF_INET6;
  EXPECT_EQ(FromSocketAddress(cut).family(), AddressFamily::kNone);

  EXPECT_EQ(FromSocketAddress(SocketAddress()).family(), AddressFamily::kNone);
  EXPECT_EQ(LocalAddress(-1).family(), AddressFamily::kNone);
  EXPECT_EQ(PeerAddress(-1).family(), AddressFamily::kNone);
}

}  // namespace
}  // namespace farcall
