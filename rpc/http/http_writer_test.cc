// SPDX-License-Identifier: Apache-2.0

#include "rpc/http/http_writer.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/errors.h"
#include "rpc/http/http_status.h"

namespace farcall {
namespace {

HttpResponse Hello() {
  HttpResponse response;
  response.content_type = "text/plain";
  response.fields.push_back({"X-A", "b c"});
  response.body = BodyOf("hello");
  return response;
}

TEST(HttpWriterTest, AHeadSaysAllThatIsNeeded) {
  EXPECT_EQ(HttpHead(Hello(), {}),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\nX-A: b c\r\n\r\n");
  EXPECT_EQ(HttpHead(HttpResponse(), {}), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
}

TEST(HttpWriterTest, TheConnectionsFateIsToldWhereItIsNotTheDefault) {
  EXPECT_TRUE(
      absl::StrContains(HttpHead(Hello(), {.keep_alive = false}), "\r\nConnection: close\r\n"));
  EXPECT_TRUE(
      absl::StrContains(HttpHead(Hello(), {.http11 = false}), "\r\nConnection: keep-alive\r\n"));
  EXPECT_TRUE(absl::StrContains(HttpHead(Hello(), {.http11 = false, .keep_alive = false}),
                                "\r\nConnection: close\r\n"));
}

TEST(HttpWriterTest, TheAnswerToHeadHasTheLengthButNotTheBody) {
  const HttpAnswerBytes bytes(Hello(), {.head_only = true});
  EXPECT_TRUE(absl::StrContains(bytes.head, "Content-Length: 5\r\n"));
  EXPECT_TRUE(bytes.body.empty());
  EXPECT_EQ(HttpAnswerBytes(Hello(), {}).body.ToString(), "hello");
}

TEST(HttpWriterTest, FieldsCannotEndTheirLine) {
  HttpResponse response;
  response.fields = {{"A", "b\r\nSet-Cookie: c"},
                     {"B\r\nC", "d"},
                     {"E", "f\n"},
                     {"G", std::string(1, '\0')},
                     {"H I", "j"},
                     {"", "k"},
                     {"K:", "l"},
                     {"Good", "\tm \xc3\xa4"}};
  EXPECT_EQ(HttpHead(response, {}),
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nGood: \tm \xc3\xa4\r\n\r\n");
  response.content_type = "text/html\r\nX: y";
  EXPECT_FALSE(absl::StrContains(HttpHead(response, {}), "X: y"));
}

TEST(HttpWriterTest, FormFollowsTheRequest) {
  HttpRequest request;
  request.method = "HEAD";
  request.http11 = false;
  request.keep_alive = false;
  const HttpAnswerForm form = HttpAnswerForm::Of(request);
  EXPECT_TRUE(form.head_only);
  EXPECT_FALSE(form.http11);
  EXPECT_FALSE(form.keep_alive);
}

TEST(HttpWriterTest, ErrorsAreJson) {
  const HttpResponse response = HttpErrorAnswer(404, kNoMethod, "no \"x\"\n<b>");
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_EQ(response.body.ToString(),
            "{\"error_code\":1002,\"error\":\"ENOMETHOD\",\"error_text\":\"no \\\"x\\\"\\u000a"
            "\\u003cb\\u003e\"}\n");
  EXPECT_TRUE(absl::StrContains(HttpHead(response, {}), "x-rpc-error-code: 1002\r\n"));
  EXPECT_LT(HttpErrorAnswer(500, kInternal, std::string(10'000, 'x')).body.size(), 1000u);
}

TEST(HttpStatusTest, EachThatIsUsedHasItsReason) {
  for (int code = -1; code < 4000; ++code) {
    EXPECT_STRNE(HttpReason(HttpStatusOf(code)), "Status") << code;
  }
  for (const int status : {405, 413, 414, 415, 417, 431, 501, 505}) {
    EXPECT_STRNE(HttpReason(status), "Status") << status;
  }
  EXPECT_STREQ(HttpReason(299), "Status");
}

}  // namespace
}  // namespace farcall
