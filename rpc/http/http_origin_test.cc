// SPDX-License-Identifier: Apache-2.0

#include "rpc/http/http_origin.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace farcall {
namespace {

HttpRefusal Refusal(const char* method, std::vector<HttpField> fields) {
  HttpRequest request;
  request.method = method;
  request.fields = std::move(fields);
  return RefuseOtherSite(request);
}

int StatusOf(const char* origin, const char* host) {
  return Refusal("POST", {{"Host", host}, {"Origin", origin}}).status;
}

TEST(HttpOriginTest, ProgramsHaveNone) {
  EXPECT_EQ(Refusal("POST", {{"Host", "a"}, {"User-Agent", "curl/8.0"}}).status, 0);
  EXPECT_EQ(Refusal("GET", {{"Host", "a"}, {"User-Agent", "curl/8.0"}}).status, 0);
  EXPECT_EQ(Refusal("GET", {}).status, 0);
}

TEST(HttpOriginTest, PagesOfThisHostAndPortMayCall) {
  const std::pair<const char*, const char*> samples[] = {
      {"http://a:8002", "a:8002"},
      {"http://A.example:8002", "a.Example:8002"},
      {"https://a:8002", "a:8002"},
      {"http://a", "a"},
      {"http://a:80", "a"},
      {"http://a", "a:80"},
      {"https://a", "a:443"},
      {"http://[::1]:8002", "[::1]:8002"},
      {"http://[fe80::80]", "[fe80::80]"}};
  for (const auto& [origin, host] : samples) EXPECT_EQ(StatusOf(origin, host), 0) << origin;
}

TEST(HttpOriginTest, PagesOfOthersMayNot) {
  const std::pair<const char*, const char*> samples[] = {{"http://evil", "a:8002"},
                                                         {"http://a:8003", "a:8002"},
                                                         {"http://a", "a:8002"},
                                                         {"http://a:8002.evil", "a:8002"},
                                                         {"http://evil?a:8002", "a:8002"},
                                                         {"http://a@evil", "a"},
                                                         {"https://a:80", "a"},
                                                         {"http://a:443", "a"},
                                                         {"null", "a"},
                                                         {"", "a"},
                                                         {"null", "null"},
                                                         {"a", "a"},
                                                         {"http://a http://evil", "a"},
                                                         {"file://", "a"}};
  for (const auto& [origin, host] : samples) EXPECT_EQ(StatusOf(origin, host), 403) << origin;
}

TEST(HttpOriginTest, ARequestWithoutHostIsOfNobody) {
  EXPECT_EQ(Refusal("POST", {{"Origin", "http://a"}}).status, 403);
}

TEST(HttpOriginTest, EachOriginCounts) {
  EXPECT_EQ(
      Refusal("POST", {{"Host", "a"}, {"Origin", "http://a"}, {"origin", "http://evil"}}).status,
      403);
}

TEST(HttpOriginTest, TheBrowsersOwnWordCounts) {
  for (const char* method : {"GET", "POST"}) {
    for (const char* site : {"cross-site", "same-site", "", "of-the-future"}) {
      EXPECT_EQ(Refusal(method, {{"Host", "a"}, {"Sec-Fetch-Site", site}}).status, 403) << site;
    }
    for (const char* site : {"same-origin", "none"}) {
      const std::vector<HttpField> fields = {
          {"Host", "a"}, {"sec-fetch-site", site}, {"User-Agent", "Mozilla/5.0"}};
      EXPECT_EQ(Refusal(method, fields).status, 0) << site;
    }
  }
  EXPECT_EQ(
      Refusal("POST", {{"Host", "a"}, {"Origin", "http://evil"}, {"Sec-Fetch-Site", "same-origin"}})
          .status,
      403);
}

// The image of a page has no Origin, and over http no Sec-Fetch-Site.
TEST(HttpOriginTest, ABrowsersGetThatDoesNotSayWhoseItIsMayBeAnybodys) {
  const HttpField browser{"User-Agent", "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101"};
  const HttpRefusal refusal = Refusal("GET", {{"Host", "a"}, browser});
  EXPECT_EQ(refusal.status, 403);
  EXPECT_TRUE(absl::StrContains(refusal.text, "POST")) << refusal.text;
  EXPECT_EQ(Refusal("POST", {{"Host", "a"}, browser}).status, 0);
}

TEST(HttpOriginTest, SaysWhyAndWhatToDo) {
  const HttpRefusal refusal =
      Refusal("POST", {{"Host", "a:8002"}, {"Origin", "http://b\x01" + std::string(300, 'z')}});
  for (const char* part : {"Origin is http://b\\x01zzz", "Host is a:8002", "proxy", "program"}) {
    EXPECT_TRUE(absl::StrContains(refusal.text, part)) << part << " in " << refusal.text;
  }
  EXPECT_LT(refusal.text.size(), 400u);
}

}  // namespace
}  // namespace farcall
