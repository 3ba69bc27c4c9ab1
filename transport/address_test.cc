// SPDX-License-Identifier: Apache-2.0

#include "transport/address.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

namespace farcall {
namespace {

Address Parsed(absl::string_view text) {
  const absl::StatusOr<Address> address = Address::Parse(text);
  EXPECT_TRUE(address.ok()) << address.status();
  return address.value_or(Address());
}

std::string ErrorOf(absl::string_view text) {
  const absl::Status status = Address::Parse(text).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
  return std::string(status.message());
}

TEST(AddressTest, StandsForNothingByDefault) {
  EXPECT_EQ(Address().family(), AddressFamily::kNone);
  EXPECT_EQ(Address().ToString(), "(none)");
  EXPECT_FALSE(Address::Parse("(none)").ok());
}

TEST(AddressTest, ParsesIpv4) {
  const Address address = Parsed("1.2.3.4:80");
  EXPECT_EQ(address.family(), AddressFamily::kIpv4);
  EXPECT_EQ(address, Address::Ipv4({1, 2, 3, 4}, 80));
  EXPECT_EQ(address.ip()[3], 4);
  EXPECT_EQ(address.port(), 80);
  EXPECT_EQ(Parsed("255.255.255.255:65535").port(), 65535);
  EXPECT_EQ(Parsed("0.0.0.0:0"), Address::Ipv4({}, 0));
}

TEST(AddressTest, ParsesIpv6) {
  std::array<uint8_t, 16> loopback{};
  loopback[15] = 1;
  EXPECT_EQ(Parsed("[::1]:80"), Address::Ipv6(loopback, 80));
  EXPECT_EQ(Parsed("[::]:0"), Address::Ipv6({}, 0));
  const Address address = Parsed("[FE80:0:0::1%2]:443");
  EXPECT_EQ(address.scope_id(), 2u);
  EXPECT_EQ(address.ip()[0], 0xfe);
  EXPECT_EQ(address.ToString(), "[fe80::1%2]:443");
  EXPECT_EQ(Parsed("[fe80::1%4294967295]:1").scope_id(), 4294967295u);
  EXPECT_EQ(Parsed("[::ffff:1.2.3.4]:80").ToString(), "[::ffff:1.2.3.4]:80");
}

TEST(AddressTest, ParsesIpAddressesWithoutPort) {
  EXPECT_EQ(*Address::ParseIp("1.2.3.4"), Address::Ipv4({1, 2, 3, 4}, 0));
  EXPECT_EQ(*Address::ParseIp("fe80::1%2"), Parsed("[fe80::1%2]:0"));
  for (const char* const text :
       {"", "1.2.3.4:0", "[::1]", "::1]:5", "unix", "unix:a", "localhost"}) {
    EXPECT_FALSE(Address::ParseIp(text).ok()) << text;
  }
}

TEST(AddressTest, ParsesUnixPaths) {
  const Address address = Parsed("unix:/run/echo.sock");
  EXPECT_EQ(address.family(), AddressFamily::kUnix);
  EXPECT_EQ(address.path(), "/run/echo.sock");
  EXPECT_EQ(address.port(), 0);
  EXPECT_EQ(address.ToString(), "unix:/run/echo.sock");
  EXPECT_EQ(Parsed("unix:relative:1.2.3.4:80").path(), "relative:1.2.3.4:80");
  EXPECT_EQ(Parsed("unix:" + std::string(Address::kMaxUnixPath, 'p')).path().size(),
            Address::kMaxUnixPath);
}

TEST(AddressTest, NamesAreErrorsThatSaySo) {
  for (const char* text :
       {"localhost:80", "example.com:80", "1.2.3:80", "1.2.3.4.5:80", "256.1.1.1:80", "01.2.3.4:80",
        "1.2.3.4 :80", " 1.2.3.4:80", "0x1.2.3.4:80", ":80", "@:1"}) {
    const std::string error = ErrorOf(text);
    EXPECT_NE(error.find(std::string("\"") + text + "\""), std::string::npos) << error;
    EXPECT_NE(error.find("resolve the name first"), std::string::npos) << error;
  }
}

TEST(AddressTest, BadPortsAreErrors) {
  for (const char* port :
       {"", "65536", "99999999999", "-1", "+1", "080", "00", "8 0", "0x50", "http"}) {
    for (const char* host : {"1.2.3.4:", "[::1]:"}) {
      const std::string error = ErrorOf(std::string(host) + port);
      EXPECT_NE(error.find("port is not a number from 0 to 65535"), std::string::npos) << error;
    }
  }
  for (const char* text : {"1.2.3.4", "[::1]", "[::1]80", "localhost", "[::1] :80"}) {
    EXPECT_NE(ErrorOf(text).find("has no port"), std::string::npos) << text;
  }
}

TEST(AddressTest, BadIpv6IsAnError) {
  EXPECT_NE(ErrorOf("::1:80").find("needs brackets"), std::string::npos);
  EXPECT_NE(ErrorOf("[::1:80").find("not closed"), std::string::npos);
  for (const char* text : {"[]:80", "[::1::]:80", "[1.2.3.4]:80", "[:::1]:80", "[12345::]:80",
                           "[[::1]]:80", "[localhost]:80", "[1:2:3:4:5:6:7:8:9]:80"}) {
    EXPECT_FALSE(ErrorOf(text).empty()) << text;
  }
}

TEST(AddressTest, ScopesAreNumbersFromOne) {
  for (const char* scope : {"", "eth0", "0", "02", "-1", "4294967296", "2%2"}) {
    const std::string error = ErrorOf("[fe80::1%" + std::string(scope) + "]:80");
    EXPECT_NE(error.find("interface's index"), std::string::npos) << error;
  }
}

TEST(AddressTest, BadUnixPathsAreErrors) {
  EXPECT_NE(ErrorOf("unix:").find("has no path"), std::string::npos);
  EXPECT_FALSE(Address::Unix("").ok());
  const std::string error = ErrorOf("unix:" + std::string(Address::kMaxUnixPath + 1, 'p'));
  EXPECT_NE(error.find("has 108 bytes, but at most 107 fit"), std::string::npos) << error;
  EXPECT_NE(ErrorOf(absl::string_view("unix:a\0b", 8)).find("zero byte"), std::string::npos);
}

TEST(AddressTest, BytesBehindAZeroAreNotOverlooked) {
  EXPECT_FALSE(Address::Parse(absl::string_view("1.2.3.4\0x:80", 12)).ok());
  EXPECT_FALSE(Address::Parse(absl::string_view("[::1\0x]:80", 10)).ok());
  EXPECT_FALSE(Address::Parse(absl::string_view("1.2.3.4:80\0", 11)).ok());
}

TEST(AddressTest, ErrorsArePrintableAndShort) {
  const std::string error = ErrorOf(std::string(100'000, '\n'));
  EXPECT_LT(error.size(), 1000u);
  for (const char c : error) EXPECT_TRUE(c >= ' ' && c <= '~');
  EXPECT_NE(ErrorOf("").find("is empty"), std::string::npos);
}

TEST(AddressTest, EqualsOnlyTheSame) {
  const Address address = Parsed("[fe80::1%2]:80");
  EXPECT_EQ(address, Parsed("[fe80::1%2]:80"));
  EXPECT_NE(address, Parsed("[fe80::1%3]:80"));
  EXPECT_NE(address, Parsed("[fe80::1%2]:81"));
  EXPECT_NE(Address::Ipv4({}, 1), Address::Ipv6({}, 1));
  EXPECT_NE(Parsed("unix:a"), Parsed("unix:b"));
}

TEST(AddressTest, TextAndBack) {
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::array<uint8_t, 16> ip{};
    // Some zeros, so that "::" is met in all places.
    for (uint8_t& byte : ip) byte = random() % 3 == 0 ? static_cast<uint8_t>(random()) : 0;
    const auto port = static_cast<uint16_t>(random());
    const Address v4 = Address::Ipv4({ip[0], ip[1], ip[2], ip[3]}, port);
    EXPECT_EQ(Parsed(v4.ToString()), v4);
    const Address v6 = Address::Ipv6(ip, port, random() % 2 == 0 ? 0 : random());
    EXPECT_EQ(Parsed(v6.ToString()), v6);
  }
}

// Whatever is accepted has one spelling from then on.
TEST(AddressTest, AnyTextIsRefusedOrReadOneWay) {
  static constexpr absl::string_view kAlphabet = "0123456789abcfFunix:.[]%/-+ ";
  std::mt19937 random(2);
  const std::vector<std::string> seeds = {"1.2.3.4:80", "[fe80::1%2]:80", "unix:/a", "[::]:0"};
  int accepted = 0;
  for (int i = 0; i < 50'000; ++i) {
    std::string text = seeds[random() % seeds.size()];
    for (size_t changes = random() % 3; changes > 0; --changes) {
      text[random() % text.size()] = kAlphabet[random() % kAlphabet.size()];
    }
    const absl::StatusOr<Address> address = Address::Parse(text);
    if (!address.ok()) continue;
    ++accepted;
    EXPECT_EQ(Parsed(address->ToString()), *address) << text;
  }
  EXPECT_GT(accepted, 1000);
}

}  // namespace
}  // namespace farcall
