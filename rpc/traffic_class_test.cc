// SPDX-License-Identifier: Apache-2.0

#include "rpc/traffic_class.h"

#include <string>

#include "gtest/gtest.h"

namespace farcall {
namespace {

TEST(TrafficClassTest, IsANumberOfEightBits) {
  EXPECT_EQ(*ParseTrafficClass("0"), 0);
  EXPECT_EQ(*ParseTrafficClass("104"), 104);
  EXPECT_EQ(*ParseTrafficClass("0x68"), 104);
  EXPECT_EQ(*ParseTrafficClass("0XfF"), 255);
  for (const char* const bad :
       {"",   "256", "-1",   "0x100", "0x",   "gold", "1 2",   "0x-1", "cs",  "cs8", "cs10",
        "af", "af1", "af01", "af51",  "af10", "af14", "af111", "ef1",  " ef", "-cs1"}) {
    const auto parsed = ParseTrafficClass(bad);
    ASSERT_FALSE(parsed.ok()) << bad;
    EXPECT_NE(parsed.status().message().find("a traffic class is '" + std::string(bad)),
              absl::string_view::npos);
  }
}

TEST(TrafficClassTest, MayBeADscpByItsName) {
  EXPECT_EQ(*ParseTrafficClass("cs0"), 0);
  EXPECT_EQ(*ParseTrafficClass("cs3"), 24 << 2);
  EXPECT_EQ(*ParseTrafficClass("CS7"), 56 << 2);
  EXPECT_EQ(*ParseTrafficClass("af11"), 10 << 2);
  EXPECT_EQ(*ParseTrafficClass("AF31"), 26 << 2);
  EXPECT_EQ(*ParseTrafficClass("af43"), 38 << 2);
  EXPECT_EQ(*ParseTrafficClass("ef"), 46 << 2);
  EXPECT_EQ(*ParseTrafficClass("EF"), 184);
}

}  // namespace
}  // namespace farcall
