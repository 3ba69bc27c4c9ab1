// SPDX-License-Identifier: Apache-2.0
//
// What a connection that speaks HTTP is answered, besides calls that are run.

#include "rpc/http/http_protocol.h"

#include <stdexcept>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/http/http_protocol_testing.h"

namespace farcall {
namespace {

class HttpProtocolTest : public HttpProtocolTestBase {};

TEST_F(HttpProtocolTest, HealthIsOkUntilTheServerStops) {
  EXPECT_EQ(
      Ask(Get("/health")),
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 3\r\n\r\n"
      "OK\n");
  EXPECT_EQ(
      Ask("HEAD /health HTTP/1.1\r\nHost: a\r\n\r\n"),
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 3\r\n\r\n");
  core_->stopping = true;
  ExpectAnswer(Get("/health"), 503, "stopping");
  EXPECT_TRUE(closed()) << "who keeps its connection would find the next request unanswered";
}

TEST_F(HttpProtocolTest, TheIndexListsPagesAndMethods) {
  pages_.Add("/a&b", "a <page>", [](const HttpRequest&) { return HttpPage(); });
  const std::string index = Ask(Get("/"));
  EXPECT_TRUE(absl::StrContains(index, "Content-Type: text/html; charset=utf-8\r\n")) << index;
  for (const char* part : {"href=\"/health\"", "href=\"/a&amp;b\"", "a &lt;page&gt;",
                           "/farcall.http_test.TreeService/Relax"}) {
    EXPECT_TRUE(absl::StrContains(index, part)) << part << " in " << index;
  }
}

// What it cut out of the chunks that came is no part of the input any more.
TEST_F(HttpProtocolTest, PartsOfABodyAreHeld) {
  const std::string head =
      "POST /farcall.http_test.TreeService/Relax HTTP/1.1\r\nHost: a\r\n"
      "Content-Type: application/json\r\n";
  const auto held = [&](const std::string& bytes) {
    End();
    EXPECT_EQ(Ask(bytes), "");
    return (*core_->Sessions().begin())->protocol()->Held(wire_->input);
  };
  Accept();
  EXPECT_EQ(held(head + "Content-Length: 9000\r\n\r\n" + std::string(5000, ' ')), 5000u);
  EXPECT_EQ(held(head + "Transfer-Encoding: chunked\r\n\r\n2000\r\n" + std::string(5000, ' ')),
            5000u);
}

TEST_F(HttpProtocolTest, APageGetsItsRequest) {
  pages_.Add("/page", "", [this](const HttpRequest& request) {
    EXPECT_FALSE(world_.loop->held());
    const std::string* const name = request.FindQuery("name");
    return HttpPage{.status = 404,
                    .content_type = "text/x",
                    .body = absl::StrCat("no ", name != nullptr ? *name : "")};
  });
  EXPECT_EQ(Ask(Get("/page?name=a+b")),
            "HTTP/1.1 404 Not Found\r\nContent-Type: text/x\r\nContent-Length: 6\r\n\r\nno a b");
  EXPECT_EQ(Ask("HEAD /page HTTP/1.1\r\nHost: a\r\n\r\n"),
            "HTTP/1.1 404 Not Found\r\nContent-Type: text/x\r\nContent-Length: 3\r\n\r\n");
  ExpectAnswer(Post("/page", "x"), 405, "Allow: GET, HEAD\r\n");
}

TEST_F(HttpProtocolTest, APageThatThrowsIsAnError) {
  pages_.Add("/page", "", [](const HttpRequest&) -> HttpPage { throw std::runtime_error("oh"); });
  ExpectAnswer(Get("/page"), 500, "exception: oh");
  EXPECT_TRUE(Logged("the page /page threw: oh"));
  ExpectAnswer(Get("/health"), 200, "OK");
}

TEST_F(HttpProtocolTest, ACrowdOfPagesIsRefused) {
  pages_.Add("/page", "", [](const HttpRequest&) { return HttpPage{.body = "the page"}; });
  for (int i = 0; i < 4; ++i) core_->pages.Begin();  // others are being made
  ExpectAnswer(Get("/page"), 503, "ask again later");
  core_->pages.End();
  ExpectAnswer(Get("/page"), 200, "the page");
  EXPECT_EQ(core_->pages.count(), 3);
}

// Stop waits for pages once more than for calls, and for none that begins behind that.
TEST_F(HttpProtocolTest, NoPageBeginsWhenCallsAreOver) {
  pages_.Add("/page", "", [](const HttpRequest&) { return HttpPage{.body = "the page"}; });
  core_->stopping = true;
  ExpectAnswer(Get("/page"), 200, "the page");
  End();
  pages_.Add("/page", "", [](const HttpRequest&) { return HttpPage{.body = "the page"}; });
  core_->calls_over = true;
  ExpectAnswer(Get("/page"), 503, "the server is stopping");
  EXPECT_TRUE(closed());
  EXPECT_EQ(core_->pages.count(), 0);
}

TEST_F(HttpProtocolTest, APageHoldsUpWhatIsBehindIt) {
  pages_.Add("/page", "", [](const HttpRequest&) { return HttpPage{.body = "the page"}; });
  const std::string answers = Ask(Get("/page") + Get("/health"));
  EXPECT_LT(answers.find("the page"), answers.find("OK\n"));
  EXPECT_EQ(Count(answers, "HTTP/1.1 200"), 2) << answers;
}

TEST_F(HttpProtocolTest, APageMayOutliveItsConnection) {
  pages_.Add("/page", "", [this](const HttpRequest&) {
    wire_->End(absl::UnavailableError("closed by peer"));
    return HttpPage{.body = "too late"};
  });
  EXPECT_EQ(Ask(Get("/page")), "");
  EXPECT_EQ(core_->running.count(), 0);
}

TEST_F(HttpProtocolTest, AnUnknownPathGetsAHint) {
  for (const char* path : {"/nothing", "/No/Method", "/farcall.http_test.TreeService", "/a/b/c"}) {
    ExpectAnswer(Get(path), 404, "/ lists");
    EXPECT_FALSE(closed());
  }
  ExpectAnswer(Get("/TreeService/Nothing"), 404, "\"error\":\"ENOMETHOD\"");
  ExpectAnswer(Get("/No/Method"), 404, "\"error\":\"ENOSERVICE\"");
  EXPECT_EQ(core_->counters.not_found.load(), 6u);
}

TEST_F(HttpProtocolTest, AWrongVerbIsToldTheRightOnes) {
  ExpectAnswer(Post("/health", ""), 405, "Allow: GET, HEAD\r\n");
  ExpectAnswer(Post("/", ""), 405, "Allow: GET, HEAD\r\n");
  ExpectAnswer("DELETE /TreeService/Relax HTTP/1.1\r\nHost: a\r\n\r\n", 405,
               "Allow: GET, POST\r\n");
  ExpectAnswer("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 404, "lists");
  EXPECT_TRUE(service_.heard.empty());
}

TEST_F(HttpProtocolTest, WhatIsNoRequestIsAnsweredAndCloses) {
  ExpectAnswer("GET / HTTP/1.1\r\n\r\n" + Get("/health"), 400, "Host");
  EXPECT_TRUE(closed());
  world_.Run();
  EXPECT_TRUE(Logged("HTTP 400: a request needs the field Host"));
  EXPECT_EQ(core_->counters.bad_peers.load(), 1u);
}

TEST_F(HttpProtocolTest, ABodyOverTheLimitIsRefusedBeforeItComes) {
  core_->options.max_body_size = 1024;
  ExpectAnswer("POST /TreeService/Relax HTTP/1.1\r\nHost: a\r\nContent-Length: 1025\r\n\r\n", 413,
               "1024 bytes");
  EXPECT_TRUE(closed());
}

TEST_F(HttpProtocolTest, AnExpectationIsMetOnce) {
  const std::string request = Relax("hi", "Expect: 100-continue\r\n");
  const size_t head = request.find("\r\n\r\n") + 4;
  EXPECT_EQ(Ask(request.substr(0, head)), "HTTP/1.1 100 Continue\r\n\r\n");
  ExpectAnswer(request.substr(head), 200, "{\"text\":\"hi\"}");
  ExpectAnswer(request, 200, "{\"text\":\"hi\"}");
}

TEST_F(HttpProtocolTest, KeepsTheConnectionOrNotAsAsked) {
  ExpectAnswer(Get("/health"), 200, "OK");
  EXPECT_FALSE(closed());
  ExpectAnswer("GET /health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", 200,
               "Connection: keep-alive\r\n");
  EXPECT_FALSE(closed());
  ExpectAnswer(Get("/health", "Connection: close\r\n") + Get("/health"), 200,
               "Connection: close\r\n");
  EXPECT_TRUE(closed());
  End();
  EXPECT_FALSE(Logged("")) << "that is as it should be";
  ExpectAnswer("GET /health HTTP/1.0\r\n\r\n", 200, "Connection: close\r\n");
  EXPECT_TRUE(closed());
}

TEST_F(HttpProtocolTest, ManyRequestsInOneReadAreAllAnswered) {
  std::string requests;
  for (int i = 0; i < 1000; ++i) requests += Get("/health");
  EXPECT_EQ(Count(Ask(requests), "OK\n"), 1000);
}

TEST_F(HttpProtocolTest, AnswersThatNobodyReadsHoldUpRequests) {
  pages_.Add("/large", "", [](const HttpRequest&) {
    return HttpPage{.body = std::string(size_t{1} << 20, 'x')};
  });
  Accept();
  std::string requests;
  for (int i = 0; i < 100; ++i) requests += Get("/large");
  wire_->Deliver(requests);
  world_.Run();
  EXPECT_TRUE(wire_->paused);
  EXPECT_LT(wire_->written.size(), size_t{8} << 20);
}

TEST_F(HttpProtocolTest, ARequestIsUnderWayUntilItIsComplete) {
  core_->options.read_timeout_ms = 1000;
  EXPECT_EQ(Ask("POST /TreeService/Relax HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                "1\r\n{"),
            "");
  for (int i = 0; i < 5 && !closed(); ++i) {
    world_.clock.Advance(std::chrono::milliseconds(700));
    world_.Run();
  }
  EXPECT_TRUE(closed());
  world_.Run();
  EXPECT_TRUE(Logged("a request was not complete within read_timeout_ms"));
}

TEST_F(HttpProtocolTest, ServedByteByByte) {
  Accept();
  std::string answer;
  for (const char byte : Relax("slow") + Get("/health")) {
    answer += Ask(absl::string_view(&byte, 1));
  }
  EXPECT_EQ(Count(answer, "HTTP/1.1 200 OK"), 2) << answer;
}

}  // namespace
}  // namespace farcall
