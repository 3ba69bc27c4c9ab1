// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/cluster/hosts.h"

#include <gtest/gtest.h>

namespace farcall::doctor {
namespace {

TEST(HostsTest, AListOfHosts) {
  const auto lines = ParseHosts("n1, n2:7,[fd00::1]:8,fd00::2,[fd00::3]", 18600);
  ASSERT_TRUE(lines.ok()) << lines.status();
  ASSERT_EQ(lines->size(), 5u);
  EXPECT_EQ((*lines)[0].host, "n1");
  EXPECT_EQ((*lines)[0].port, 18600);
  EXPECT_EQ((*lines)[1].port, 7);
  EXPECT_EQ((*lines)[2].host, "fd00::1");
  EXPECT_EQ((*lines)[2].port, 8);
  EXPECT_EQ((*lines)[3].host, "fd00::2");
  EXPECT_EQ((*lines)[4].port, 18600);
  EXPECT_FALSE((*lines)[0].all);
}

TEST(HostsTest, ANameOfWhichEachAddressIsAHost) {
  const auto lines = ParseHosts("dns://doctor.farcall:7", 18600);
  ASSERT_TRUE(lines.ok()) << lines.status();
  EXPECT_EQ((*lines)[0].host, "doctor.farcall");
  EXPECT_TRUE((*lines)[0].all);
}

TEST(HostsTest, AFileWithFurtherAddresses) {
  const auto lines = ParseHostFile("# all\nn1 10.1.0.1 fd00::1\n\n n2:7\t10.1.0.2 # two\n", 18600);
  ASSERT_TRUE(lines.ok()) << lines.status();
  ASSERT_EQ(lines->size(), 2u);
  EXPECT_EQ((*lines)[0].addresses, (std::vector<std::string>{"10.1.0.1", "fd00::1"}));
  EXPECT_EQ((*lines)[1].port, 7);
}

TEST(HostsTest, WhatIsWrongIsNamed) {
  for (const char* const word : {"", "a,,b", "a:0", "a:x", ":7", "[fd00::1", "a:70000"}) {
    EXPECT_FALSE(ParseHosts(word, 18600).ok()) << word;
  }
  EXPECT_FALSE(ParseHosts("file:///nonexistent", 18600).ok());
  EXPECT_FALSE(ParseHostFile("# nobody\n", 18600).ok());
  const auto named = ParseHostFile("n1 second", 18600);
  ASSERT_FALSE(named.ok());
  EXPECT_EQ(named.status().message(), "\"second\" is no address of n1");
  std::string many;
  for (size_t i = 0; i <= kMaxHosts; ++i) many += "n" + std::to_string(i) + "\n";
  EXPECT_FALSE(ParseHostFile(many, 18600).ok());
}

TEST(HostsTest, AddressesAreFound) {
  const auto hosts = Resolve({{"127.0.0.1", 7}, {"no-such-host.invalid", 7}, {"::1", 8}});
  ASSERT_EQ(hosts.size(), 3u);
  EXPECT_EQ(hosts[0].server.ToString(), "127.0.0.1:7");
  EXPECT_NE(hosts[1].trouble, "");
  EXPECT_EQ(hosts[2].server.ToString(), "[::1]:8");
  const auto all = Resolve({{"127.0.0.1", 7, {}, true}});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].name, "");
}

}  // namespace
}  // namespace farcall::doctor
