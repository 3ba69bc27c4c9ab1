// SPDX-License-Identifier: Apache-2.0

#include "tools/node/parse.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace farcall::node {
namespace {

TEST(ParseTest, AddressesOfInterfacesEndGids) {
  EXPECT_EQ(GidEndOf("a4:bf:01:00:00:01"), "a6bf:01ff:fe00:0001");
  EXPECT_EQ(GidEndOf("52:54:00:12:34:56"), "5054:00ff:fe12:3456");
  EXPECT_EQ(GidEndOf("00:00:01:49:fe:80:00:00:00:00:00:00:b8:3f:d2:ff:fe:00:10:00"),
            "b83f:d2ff:fe00:1000");
  for (const char* const text : {"", ":", "a4:bf", "zz:bf:01:00:00:01", "a4bf:01:00:00:01:0"}) {
    EXPECT_EQ(GidEndOf(text), "") << text;
  }
}

TEST(ParseTest, NumbersAreDecimalOrHexadecimal) {
  EXPECT_EQ(ParseNumber("106"), 106u);
  EXPECT_EQ(ParseNumber("0x1f"), 31u);
  EXPECT_EQ(ParseNumber("18446744073709551615"), 18446744073709551615u);
  for (const char* const text : {"", "x", "-1", "1 2", "0x", "99999999999999999999"}) {
    EXPECT_EQ(ParseNumber(text), absl::nullopt) << text;
  }
}

TEST(ParseTest, IdsHaveTheirDigits) {
  EXPECT_EQ(ParseHex("0x15B3", 4), std::string("15b3"));
  EXPECT_EQ(ParseHex("0x020700", 6), std::string("020700"));
  for (const char* const text : {"", "0x15b", "0x15b3f", "0x15g3"}) {
    EXPECT_EQ(ParseHex(text, 4), absl::nullopt) << text;
  }
}

TEST(ParseTest, StatesLoseTheirNumber) {
  EXPECT_EQ(ParseState("4: ACTIVE"), "ACTIVE");
  EXPECT_EQ(ParseState("5: LinkUp"), "LinkUp");
  EXPECT_EQ(ParseState("ACTIVE"), "ACTIVE");
  EXPECT_EQ(ParseState("4: "), "4: ");
  EXPECT_EQ(ParseState(""), "");
}

TEST(ParseTest, RatesAreInGigabits) {
  EXPECT_EQ(ParseRate("400 Gb/sec (4X NDR)"), 400);
  EXPECT_EQ(ParseRate("2.5 Gb/sec (1X SDR)"), 2.5);
  for (const char* const text : {"", "fast", "nan Gb/sec", "-1 Gb/sec", "1e9 Gb/sec"}) {
    EXPECT_EQ(ParseRate(text), absl::nullopt) << text;
  }
}

TEST(ParseTest, PciAddressesAreToldFromOtherDevices) {
  EXPECT_TRUE(IsPciAddress("0000:17:00.0"));
  EXPECT_TRUE(IsPciAddress("10000:e1:1f.7"));
  for (const char* const text : {"", "virtio0", "mlx5_core.sf.4", "17:00.0", "0000:17:00:0",
                                 "0000:17.00.0", "0000:17:00.", "0000.17.00:0"}) {
    EXPECT_FALSE(IsPciAddress(text)) << text;
  }
}

TEST(ParseTest, GidsWithoutAnIdentifierAreEmpty) {
  EXPECT_TRUE(IsEmptyGid("0000:0000:0000:0000:0000:0000:0000:0000"));
  EXPECT_TRUE(IsEmptyGid("fe80:0000:0000:0000:0000:0000:0000:0000"));
  EXPECT_FALSE(IsEmptyGid("fe80:0000:0000:0000:b83f:d200:0010:0001"));
  EXPECT_FALSE(IsEmptyGid("0000:0000:0000:0000:0000:ffff:0a01:000b"));
}

TEST(ParseTest, AGidOfIwarpBeginsWithAMacAddress) {
  EXPECT_EQ(MacInGid("a4bf:0100:0001:0000:0000:0000:0000:0000"), "a4:bf:01:00:00:01");
  for (const char* const text : {"", "a4bf:0100:0001", "1:2:3:4:5:6:7:8"}) {
    EXPECT_EQ(MacInGid(text), "") << text;
  }
}

TEST(ParseTest, AllowedCpusAreFoundInTheStatusOfAProcess) {
  EXPECT_EQ(AllowedCpus("Name:\tcat\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\nMems:\t1"),
            std::string("0-7"));
  EXPECT_EQ(AllowedCpus("Name:\tcat\n"), absl::nullopt);
}

TEST(ParseTest, DefaultRoutesNameTheirInterfaces) {
  const char kRoutes[] =
      "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
      "eno1\t00000000\t0100000A\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
      "eno1\t0000000A\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0\n"
      "half\t00000000\t00000000\t0001\t0\t0\t100\t00000080\t0\t0\t0\n"
      "ens1 00000000\n";
  EXPECT_EQ(DefaultRouteInterfaces(kRoutes), std::vector<std::string>{"eno1"});
  EXPECT_TRUE(DefaultRouteInterfaces("").empty());
}

TEST(ParseTest, NamespaceModesAreNamed) {
  EXPECT_EQ(ParseNetnsMode("Y"), std::string("shared"));
  EXPECT_EQ(ParseNetnsMode("N"), std::string("exclusive"));
  EXPECT_EQ(ParseNetnsMode(""), absl::nullopt);
}

TEST(ParseTest, NamesSortByTheirNumbers) {
  std::vector<std::string> names = {"mlx5_10", "mlx5_9", "mlx5_bond_0", "mlx5", "a01", "a1"};
  std::sort(names.begin(), names.end(), NaturalLess);
  EXPECT_EQ(names,
            (std::vector<std::string>{"a01", "a1", "mlx5", "mlx5_9", "mlx5_10", "mlx5_bond_0"}));
}

TEST(ParseTest, TheOrderOfNamesIsStrict) {
  const std::vector<std::string> names = {"",    "0",   "00", "a",  "a0",
                                          "a00", "a0b", "a1", "1a", "01a"};
  for (const std::string& a : names) {
    EXPECT_FALSE(NaturalLess(a, a)) << a;
    for (const std::string& b : names) {
      EXPECT_TRUE(a == b || NaturalLess(a, b) != NaturalLess(b, a)) << a << " " << b;
      for (const std::string& c : names) {
        EXPECT_TRUE(!NaturalLess(a, b) || !NaturalLess(b, c) || NaturalLess(a, c))
            << a << " " << b << " " << c;
      }
    }
  }
}

}  // namespace
}  // namespace farcall::node
