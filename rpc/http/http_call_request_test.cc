// SPDX-License-Identifier: Apache-2.0

#include "rpc/http/http_call_request.h"

#include <chrono>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace farcall {
namespace {

constexpr TimePoint kNow{std::chrono::seconds(1000)};

HttpRequest Post(const std::vector<HttpField>& fields, absl::string_view body = "{}") {
  HttpRequest request;
  request.method = "POST";
  request.path = "/S/M";
  request.fields = fields;
  request.body = Buffer(body);
  return request;
}

int Status(HttpRequest request) {
  HttpCallRequest call;
  const HttpRefusal refusal = ReadCallRequest(request, kNow, call);
  EXPECT_EQ(refusal.status == 0, refusal.text.empty());
  return refusal.status;
}

TEST(SplitMethodPathTest, HasTwoParts) {
  EXPECT_EQ(SplitMethodPath("/a.B/C").service, "a.B");
  EXPECT_EQ(SplitMethodPath("/a.B/C").method, "C");
  for (const char* other : {"", "/", "/a", "a/b", "/a/b/c", "*"}) {
    EXPECT_EQ(SplitMethodPath(other).service, "") << other;
    EXPECT_EQ(SplitMethodPath(other).method, "") << other;
  }
  EXPECT_EQ(SplitMethodPath("//C").service, "");
  EXPECT_EQ(SplitMethodPath("/a/").method, "");
}

TEST(HttpCallRequestTest, TypesThatAreTaken) {
  const struct {
    const char* type;
    HttpBodyKind kind;
  } samples[] = {{"application/json", HttpBodyKind::kJson},
                 {"Application/JSON ; charset=UTF-8", HttpBodyKind::kJson},
                 {"application/json;charset=\"utf-8\"", HttpBodyKind::kJson},
                 {"application/x-www-form-urlencoded", HttpBodyKind::kJson},
                 {"application/proto", HttpBodyKind::kProtobuf},
                 {"application/protobuf", HttpBodyKind::kProtobuf},
                 {"application/x-protobuf; messageType=\"x\"", HttpBodyKind::kProtobuf}};
  for (const auto& sample : samples) {
    HttpRequest request = Post({{"Content-Type", sample.type}});
    HttpCallRequest call;
    EXPECT_EQ(ReadCallRequest(request, kNow, call).status, 0) << sample.type;
    EXPECT_EQ(call.kind, sample.kind) << sample.type;
    EXPECT_EQ(call.body.ToString(), "{}");
  }
  EXPECT_EQ(Status(Post({})), 0) << "no type at all";
}

TEST(HttpCallRequestTest, TypesThatAreNot) {
  for (const char* type : {"text/plain", "text/json", "application/xml", "multipart/form-data",
                           "application/json; charset=latin1", "application/jsonx"}) {
    EXPECT_EQ(Status(Post({{"Content-Type", type}})), 415) << type;
  }
  EXPECT_EQ(Status(Post({{"Content-Type", "text/plain"}}, "")), 0) << "nothing is of any type";
}

TEST(HttpCallRequestTest, PagesOfOtherSitesCannotCall) {
  const HttpField host{"Host", "here"};
  for (const char* type : {"", "application/x-www-form-urlencoded", "text/plain",
                           "application/json", "application/proto"}) {
    EXPECT_EQ(Status(Post({host, {"Origin", "http://evil"}, {"Content-Type", type}})), 403) << type;
  }
  EXPECT_EQ(Status(Post({host, {"Origin", "http://evil"}}, "")), 403) << "an empty form too";
  EXPECT_EQ(Status(Post({host, {"Origin", "http://here"}, {"Content-Type", "application/json"}})),
            0);
}

TEST(HttpCallRequestTest, WhatGoesBesideTheMessage) {
  HttpRequest request = Post({{"X-Farcall-Timeout-Ms", "1500"},
                              {"x-log-id", "-7"},
                              {"X-Request-Id", "abc"},
                              {"X-Farcall-Field-Tenant", "blue"},
                              {"x-farcall-field-", "empty key"},
                              {"Other", "x"}});
  HttpCallRequest call;
  ASSERT_EQ(ReadCallRequest(request, kNow, call).status, 0);
  EXPECT_EQ(call.deadline, kNow + std::chrono::milliseconds(1500));
  EXPECT_EQ(call.log_id, -7);
  EXPECT_EQ(call.request_id, "abc");
  ASSERT_NE(call.user_fields.Find("tenant"), nullptr);
  EXPECT_EQ(*call.user_fields.Find("tenant"), "blue");
  EXPECT_EQ(call.user_fields.all().size(), 2u);
}

TEST(HttpCallRequestTest, NothingBesideTheMessageIsTheDefault) {
  HttpRequest request = Post({});
  HttpCallRequest call;
  ASSERT_EQ(ReadCallRequest(request, kNow, call).status, 0);
  EXPECT_EQ(call.deadline, TimePoint::max());
  EXPECT_EQ(call.log_id, 0);
  EXPECT_EQ(call.request_id, "");
  EXPECT_TRUE(call.user_fields.empty());
}

TEST(HttpCallRequestTest, NumbersThatAreNone) {
  for (const char* bad : {"", "0", "-1", "x", "1.5", "2147483648", "1 2"}) {
    EXPECT_EQ(Status(Post({{"x-farcall-timeout-ms", bad}})), 400) << bad;
  }
  EXPECT_EQ(Status(Post({{"x-log-id", "9223372036854775808"}})), 400);
  EXPECT_EQ(Status(Post({{"x-request-id", std::string(257, 'i')}})), 400);
}

TEST(HttpCallRequestTest, GetHasNeitherBodyNorParameters) {
  HttpRequest get = Post({}, "");
  get.method = "GET";
  EXPECT_EQ(Status(std::move(get)), 0);
  HttpRequest with_body = Post({});
  with_body.method = "GET";
  EXPECT_EQ(Status(std::move(with_body)), 400);
  HttpRequest with_query = Post({}, "");
  with_query.query.push_back({"message", "hi"});
  EXPECT_EQ(Status(std::move(with_query)), 400);
}

}  // namespace
}  // namespace farcall
