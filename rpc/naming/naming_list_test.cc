// SPDX-License-Identifier: Apache-2.0

#include "rpc/naming/naming_list.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "rpc/naming/naming_testing.h"

namespace farcall {
namespace {

std::string ErrorOf(const absl::StatusOr<std::vector<ServerNode>>& nodes) {
  if (nodes.ok()) return "";
  EXPECT_EQ(nodes.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(nodes.status().message());
}

TEST(NamingListTest, ServersStandBetweenCommas) {
  EXPECT_EQ(Text(ParseServerList("a:1")), "a:1");
  EXPECT_EQ(Text(ParseServerList("a:1,b:2,10.0.0.7:8002 3")), "a:1,b:2,10.0.0.7:8002 3");
  EXPECT_EQ(Text(ParseServerList(" a:1 , [::1]:2\t ,unix:/run/s 10000 hot")),
            "a:1,[::1]:2,unix:/run/s 10000 hot");
  EXPECT_EQ(Text(ParseServerList("a:1 one,a:1 two,a:1 2 three,a:1 3 4")),
            "a:1 one,a:1 two,a:1 2 three,a:1 3 4");
}

TEST(NamingListTest, ANameIsKeptAsItIsAndANumberBecomesAnAddress) {
  const auto nodes = ParseServerList("storage-0.storage:80,10.0.0.1:81,unix:/run/s");
  ASSERT_TRUE(nodes.ok()) << nodes.status();
  ASSERT_EQ(nodes->size(), 3u);
  EXPECT_EQ((*nodes)[0].address.family(), AddressFamily::kNone);
  EXPECT_EQ((*nodes)[0].host, "storage-0.storage:80");
  EXPECT_EQ((*nodes)[1].address, *Address::Parse("10.0.0.1:81"));
  EXPECT_EQ((*nodes)[1].host, "");
  EXPECT_EQ((*nodes)[2].address, *Address::Unix("/run/s"));
  EXPECT_EQ((*nodes)[2].weight, 1);
}

TEST(NamingListTest, AServerNamedTwiceCountsOnceAsItWasNamedFirst) {
  EXPECT_EQ(Text(ParseServerList("a:1 5,b:1,a:1,a:1 7,a:1 x")), "a:1 5,b:1,a:1 x");
  EXPECT_EQ(Text(ParseServerList("[::1]:1,[0:0::1]:1")), "[::1]:1");
}

TEST(NamingListTest, WhatIsWrongIsToldWithItsPlaceAndTheCure) {
  const struct {
    const char* text;
    const char* says;
  } cases[] = {
      {"", "server 1 is empty: a list is"},
      {"a:1,", "server 2 is empty"},
      {"a:1,,b:2", "server 2 is empty"},
      {"a:1,b", "server 2: target \"b\" is none of host:port"},
      {"a:1,b:0", "server 2: target \"b:0\" has no good port"},
      {"a:1 0", "server 1: a weight is a number from 1 to 10000"},
      {"a:1 10001", "server 1: a weight is"},
      {"a:1 99999999999999999999", "server 1: a weight is"},
      {"a:1 tag 3", "server 1: \"3\" is too much: a server is TARGET [WEIGHT] [TAG]"},
      {"a:1 3 tag more", "\"more\" is too much"},
      {"a:1 3 t\x01g", "a tag is a word of at most 255 bytes without control characters"},
      {"a:1 b:2", ""},  // a tag may look like anything
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.text);
    const std::string error = ErrorOf(ParseServerList(one.text));
    EXPECT_EQ(error.empty(), std::string(one.says).empty()) << error;
    EXPECT_TRUE(absl::StrContains(error, one.says)) << error;
  }
  EXPECT_TRUE(absl::StrContains(ErrorOf(ParseServerList("a:1 " + std::string(256, 't'))), "a tag"));
  EXPECT_EQ(ErrorOf(ParseServerList("a:1 " + std::string(255, 't'))), "");
}

TEST(NamingListTest, AFileHasAServerALineAndComments) {
  EXPECT_EQ(Text(ParseServerFile("a:1\nb:2 3\n")), "a:1,b:2 3");
  EXPECT_EQ(Text(ParseServerFile("# the replicas\n\n  a:1 2 blue # until May\r\n\tb:2\r\n#c:3")),
            "a:1 2 blue,b:2");
  EXPECT_EQ(Text(ParseServerFile("a:1")), "a:1") << "the last line needs no end";
}

TEST(NamingListTest, ALineThatIsWrongSpoilsTheFile) {
  EXPECT_EQ(ErrorOf(ParseServerFile("a:1\n# c\nb:2 3 x y\nc:3")),
            "line 3: \"y\" is too much: a server is TARGET [WEIGHT] [TAG]");
  EXPECT_TRUE(absl::StartsWith(ErrorOf(ParseServerFile("a:1\n10.0.0")), "line 2: "));
  EXPECT_TRUE(absl::StartsWith(ErrorOf(ParseServerFile(absl::string_view("a:1\n\0\0\0", 7))),
                               "line 2: target \"\\x00\\x00\\x00\""));
  EXPECT_TRUE(absl::StartsWith(ErrorOf(ParseServerFile("a:1,b:2")), "line 1: "));
}

TEST(NamingListTest, AFileWithoutAServerIsToldWhatALineIs) {
  for (const char* text : {"", "\n\n", "# a:1\n", " \t\r\n"}) {
    EXPECT_TRUE(absl::StrContains(ErrorOf(ParseServerFile(text)), "as in \"10.0.0.7:8002 3\""));
  }
}

std::string Many(int count, char between) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    absl::StrAppend(&text, i > 0 ? std::string(1, between) : "", "10.0.", i / 250, ".", i % 250,
                    ":80");
  }
  return text;
}

TEST(NamingListTest, TenThousandServersAreTheLimit) {
  for (const char between : {',', '\n'}) {
    const auto parse = between == ',' ? &ParseServerList : &ParseServerFile;
    const auto most = parse(Many(10'000, between));
    ASSERT_TRUE(most.ok()) << most.status();
    EXPECT_EQ(most->size(), 10'000u);
    EXPECT_TRUE(absl::StrContains(ErrorOf(parse(Many(10'001, between))),
                                  "10001: there are more than 10000 servers"));
  }
}

TEST(NamingListTest, AMebibyteIsTheLimit) {
  const std::string comment = "#" + std::string(kMaxServerListBytes - 5, 'c');
  EXPECT_EQ(Text(ParseServerFile(comment + "\na:1")), "a:1");
  EXPECT_EQ(ErrorOf(ParseServerFile(comment + "c\na:1")),
            "there are 1048577 bytes; the limit is 1048576");
}

}  // namespace
}  // namespace farcall
