// SPDX-License-Identifier: Apache-2.0

#include "rpc/naming/target.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace farcall {
namespace {

std::string ErrorOf(absl::string_view text, uint16_t lowest_port = 1) {
  const absl::StatusOr<Target> target = Target::Parse(text, lowest_port);
  if (target.ok()) return "";
  EXPECT_EQ(target.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(target.status().message());
}

TEST(TargetTest, NumbersNeedNoResolver) {
  for (const char* text : {"1.2.3.4:80", "[::1]:8002", "[fe80::1%2]:65535", "unix:/run/echo.sock",
                           "unix:relative.sock"}) {
    SCOPED_TRACE(text);
    const absl::StatusOr<Target> target = Target::Parse(text);
    ASSERT_TRUE(target.ok()) << target.status();
    ASSERT_TRUE(target->address.has_value());
    EXPECT_EQ(target->address->ToString(), text);
    EXPECT_EQ(target->port, target->address->port());
    EXPECT_EQ(target->host, "");
    EXPECT_EQ(target->text, text);
  }
}

TEST(TargetTest, NamesAreSplitFromTheirPorts) {
  const struct {
    std::string host;
    uint16_t port;
  } cases[] = {
      {"localhost", 1},
      {"storage.ns.svc.cluster.local", 8002},
      {"storage-0.storage", 65535},
      {"name_with_underscore", 80},
      {"7zip.example", 80},
      {"UPPER.Case", 80},
      {"trailing.dot.", 80},
      {std::string(253, 'a'), 80},
  };
  for (const auto& one : cases) {
    const std::string text = absl::StrCat(one.host, ":", one.port);
    SCOPED_TRACE(text);
    const absl::StatusOr<Target> target = Target::Parse(text);
    ASSERT_TRUE(target.ok()) << target.status();
    EXPECT_FALSE(target->address.has_value());
    EXPECT_EQ(target->host, one.host);
    EXPECT_EQ(target->port, one.port);
    EXPECT_EQ(target->text, text);
  }
}

TEST(TargetTest, WhatIsNoTargetIsToldWithTheForms) {
  for (const std::string text :
       {"", ":80", "http://host:80", "host/path:80", "user@host:80", "a b:80", "::1:80", "-",
        "a:b:80", "list://a:1,b:2", "*:80", "h\xc3\xb6st:80"}) {
    SCOPED_TRACE(text);
    const std::string error = ErrorOf(text);
    EXPECT_TRUE(absl::StrContains(error,
                                  "none of host:port, 1.2.3.4:port, [::1]:port and "
                                  "unix:PATH"))
        << error;
  }
  EXPECT_TRUE(absl::StrContains(ErrorOf("http://host:80"), "target \"http://host:80\""));
  EXPECT_NE(ErrorOf(std::string(254, 'a') + ":80"), "");
}

TEST(TargetTest, WhatWasMeantIsTold) {
  const struct {
    const char* text;
    const char* hint;
  } cases[] = {
      {"::1:9001", "unix:PATH; IPv6 needs brackets: write [::1]:9001"},
      {"fe80::1%2:80", "unix:PATH; IPv6 needs brackets: write [fe80::1%2]:80"},
      {"2001:db8::7:8002", "unix:PATH; IPv6 needs brackets: write [2001:db8::7]:8002"},
      {"a:1,b:2", "unix:PATH; several servers are written list://a:1,b:2"},
      {"10.0.0.1:80,10.0.0.2:80", "unix:PATH; several servers are written list://a:1,b:2"},
      {"list://a:1,b:2", "unix:PATH"},
      {"a:b:80", "unix:PATH"},
  };
  for (const auto& one : cases) {
    EXPECT_TRUE(absl::EndsWith(ErrorOf(one.text), one.hint)) << ErrorOf(one.text);
  }
  EXPECT_TRUE(absl::EndsWith(ErrorOf("a:1,b:2", 0), "unix:PATH")) << "a server listens on one";
}

TEST(TargetTest, APortIsANumberFromOneTo65535) {
  for (const std::string text :
       {"host:", "host:0", "host:65536", "host:99999999999", "host:+80", "host: 80", "host:80 ",
        "host:0x50", "host:http", "1.2.3.4:0", "[::1]:0"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(ErrorOf(text), absl::StrCat("target \"", text,
                                          "\" has no good port: it is a number from 1 to 65535"));
  }
}

TEST(TargetTest, ToListenOnThePortMayBeZero) {
  EXPECT_TRUE(Target::Parse("localhost:0", 0).ok());
  EXPECT_TRUE(Target::Parse("127.0.0.1:0", 0).ok());
  EXPECT_EQ(ErrorOf("localhost:65536", 0),
            "target \"localhost:65536\" has no good port: it is a number from 0 to 65535");
}

// The error of a malformed address says what is wrong with it; it is not taken for a name.
TEST(TargetTest, BadNumbersAreExplainedAsAddresses) {
  const struct {
    const char* text;
    const char* says;
  } cases[] = {
      {"256.1.1.1:80", "address \"256.1.1.1:80\""},
      {"1.2.3:80", "address \"1.2.3:80\""},
      {"1.2.3.4", "has no port"},
      {"1.2.3.4:65536", "0 to 65535"},
      {"[::1", "bracket"},
      {"[::1]", "has no port"},
      {"[::1%eth0]:80", "interface's index"},
      {"unix:", "has no path"},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.text);
    EXPECT_TRUE(absl::StrContains(ErrorOf(one.text), one.says)) << ErrorOf(one.text);
  }
}

TEST(TargetTest, MessagesBearAnyBytes) {
  const std::string control = ErrorOf("bad\n\x1b[31m:80");
  EXPECT_TRUE(absl::StrContains(control, "bad\\n\\x1b[31m:80")) << control;
  const std::string huge = ErrorOf(std::string(100'000, '/') + ":80");
  EXPECT_LT(huge.size(), 600u);
  EXPECT_TRUE(absl::StrContains(huge, "/..."));
}

}  // namespace
}  // namespace farcall
