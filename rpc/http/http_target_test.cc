// SPDX-License-Identifier: Apache-2.0

#include "rpc/http/http_target.h"

#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "rpc/http/http_testing.h"

namespace farcall {
namespace {

std::string Parsed(absl::string_view target, absl::string_view method = "GET") {
  HttpRequest request;
  request.method = std::string(method);
  const absl::Status parsed = ParseTarget(target, request);
  return parsed.ok() ? testing::Describe(request) : std::string(parsed.message());
}

TEST(HttpTargetTest, PathAndQueryAreDecoded) {
  EXPECT_EQ(Parsed("/"), "GET / []\n");
  EXPECT_EQ(Parsed("/a.b/C"), "GET /a.b/C []\n");
  EXPECT_EQ(Parsed("/%41%7e+"), "GET /A~+ []\n") << "plus is plus in a path";
  EXPECT_EQ(Parsed("/?"), "GET / []\n");
  EXPECT_EQ(Parsed("/?a=b=c&&=d&e%3D=%26"), "GET / ?a=b=c ?=d ?e==& []\n");
  EXPECT_EQ(Parsed("/?a+b=c%2Bd"), "GET / ?a b=c+d []\n");
}

// A proxy that keeps "/Admin/" from some would not see it in "/Admin%2F".
TEST(HttpTargetTest, ASlashInDisguiseSeparatesNothing) {
  EXPECT_EQ(Parsed("/A%2fB/C%2F"), "GET /A%2fB/C%2F []\n");
  EXPECT_EQ(Parsed("/A%252fB"), "GET /A%2fB []\n") << "once";
  EXPECT_EQ(Parsed("/A%5cB"), "GET /A\\\\B []\n");
  EXPECT_EQ(Parsed("/?a=%2f"), "GET / ?a=/ []\n");
}

TEST(HttpTargetTest, WhatAProxyIsSentLosesItsHost) {
  EXPECT_EQ(Parsed("http://host"), "GET / []\n");
  EXPECT_EQ(Parsed("HTTPS://host:1/a?b=c"), "GET /a ?b=c []\n");
  EXPECT_EQ(Parsed("http://host?b=c"), "GET / ?b=c []\n");
}

TEST(HttpTargetTest, AsteriskIsForOptions) {
  EXPECT_EQ(Parsed("*", "OPTIONS"), "OPTIONS * []\n");
  EXPECT_TRUE(absl::StrContains(Parsed("*"), "must begin with"));
}

TEST(HttpTargetTest, MalformedOnesSayWhatIsWrong) {
  for (const char* bad : {"/%", "/%4", "/%4g", "/?%zz", "/?a=%"}) {
    EXPECT_TRUE(absl::StrContains(Parsed(bad), "hex digits")) << bad;
  }
  EXPECT_TRUE(absl::StrContains(Parsed("/a%00"), "%00"));
  EXPECT_TRUE(absl::StrContains(Parsed("/a#b"), "fragment"));
  EXPECT_TRUE(absl::StrContains(Parsed("http://a#b"), "fragment"));
  EXPECT_TRUE(absl::StrContains(Parsed("a"), "must begin with"));
  EXPECT_TRUE(absl::StrContains(Parsed("?a"), "must begin with"));
}

}  // namespace
}  // namespace farcall
