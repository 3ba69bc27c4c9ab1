// SPDX-License-Identifier: Apache-2.0
//
// Calls that come by HTTP.

#include "rpc/http/http_call.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/http/http_protocol_testing.h"
#include "rpc/stats/error_class.h"

namespace farcall {
namespace {

using http_test::Loose;
using http_test::Tree;
using Closure = google::protobuf::Closure;

class HttpCallTest : public HttpProtocolTestBase {
 protected:
  static std::string Named(const std::string& name) {
    Tree tree;
    tree.set_name(name);
    return tree.SerializeAsString();
  }
  void Fail(int code, const std::string& text) {
    service_.relax = [=](Controller& controller, Loose&, Closure* done) {
      controller.SetFailed(code, text);
      done->Run();
    };
  }
};

TEST_F(HttpCallTest, JsonGoesInAndComesOut) {
  EXPECT_EQ(Ask(Post("/farcall.http_test.TreeService/Grow",
                     R"({"name":"a","bigNumber":5,"children":[{"name":"b"}]})")),
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 55\r\n\r\n"
            R"({"name":"a","big_number":"5","children":[{"name":"b"}]})");
}

TEST_F(HttpCallTest, AShortServiceNameWill) {
  ExpectAnswer(Relax("hi"), 200, "{\"text\":\"hi\"}");
  EXPECT_EQ(service_.heard, std::vector<std::string>{"hi"});
}

TEST_F(HttpCallTest, GetIsAnEmptyRequest) {
  ExpectAnswer(Get("/TreeService/Relax"), 200, "{\"text\":\"\"}");
  ExpectAnswer(Get("/TreeService/Relax?text=hi"), 400, "POST the request");
}

TEST_F(HttpCallTest, ChunksAreABodyToo) {
  ExpectAnswer(
      "POST /TreeService/Relax HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
      "8\r\n{\"text\":\r\n5\r\n\"hi\"}\r\n0\r\n\r\n",
      200, "{\"text\":\"hi\"}");
}

TEST_F(HttpCallTest, ProtobufIsAnsweredInKind) {
  Tree tree;
  tree.set_name("a");
  tree.set_raw_bytes(std::string(5000, '\xff'));
  const std::string answer = Ask(Post("/TreeService/Grow", tree.SerializeAsString(),
                                      "Content-Type: application/x-protobuf\r\n"));
  const size_t body = answer.find("\r\n\r\n") + 4;
  EXPECT_TRUE(absl::StrContains(answer.substr(0, body), "Content-Type: application/proto\r\n"));
  EXPECT_EQ(answer.substr(body), tree.SerializeAsString());
  ExpectAnswer(Post("/TreeService/Grow", "\xff", "Content-Type: application/proto\r\n"), 400,
               "is not a farcall.http_test.Tree");
}

TEST_F(HttpCallTest, AnotherTypeIsRefused) {
  ExpectAnswer(Relax("hi", "Content-Type: text/xml\r\n"), 415, "application/json");
  EXPECT_TRUE(service_.heard.empty());
}

TEST_F(HttpCallTest, BadJsonNamesTheField) {
  ExpectAnswer(Post("/TreeService/Relax", R"({"texxt":"hi"})"), 400, "texxt");
  ExpectAnswer(Post("/TreeService/Grow", "{}"), 400, "Tree: missing field name");
  ExpectAnswer(Post("/TreeService/Relax", "{"), 400, "\"error_code\":1003,\"error\":\"EREQUEST\"");
  EXPECT_TRUE(service_.heard.empty());
}

TEST_F(HttpCallTest, FailuresHaveStatusCodeAndText) {
  Fail(EACCES, "not you");
  ExpectAnswer(Relax("x"), 403,
               "{\"error_code\":13,\"error\":\"EACCES\",\"error_text\":\"not you\"}");
  Fail(77777, "own");
  ExpectAnswer(Relax("x"), 500, "x-rpc-error-code: 77777\r\n");
}

TEST_F(HttpCallTest, AResponseWithoutItsRequiredFieldsIsAnError) {
  ExpectAnswer(Post("/TreeService/Grow", R"({"name":"wither"})"), 500, "lacks required fields");
  ExpectAnswer(Post("/TreeService/Grow", Named("wither"), "Content-Type: application/proto\r\n"),
               500, "\"error\":\"ERESPONSE\"");
}

TEST_F(HttpCallTest, BytesThatAreNoTextAreNotSentAsJson) {
  service_.relax = [](Controller&, Loose& response, Closure* done) {
    response.set_text("\xff\xfe");
    done->Run();
  };
  // proto2 strings may hold any bytes; JSON may not.
  const std::string answer = Ask(Relax("x"));
  EXPECT_TRUE(absl::StartsWith(answer, "HTTP/1.1 ")) << answer;
  EXPECT_FALSE(absl::StrContains(answer, "\xff")) << answer;
}

TEST_F(HttpCallTest, PagesOfOtherSitesCannotCall) {
  ExpectAnswer(Relax("x", "Origin: http://evil\r\n"), 403, "Origin is http://evil, Host is test");
  ExpectAnswer(Get("/TreeService/Relax", "Sec-Fetch-Site: cross-site\r\n"), 403, "cross-site");
  EXPECT_TRUE(service_.heard.empty());
  EXPECT_FALSE(closed());
  // What they get of pages, the browser keeps from them.
  ExpectAnswer(Get("/health", "Origin: http://evil\r\n"), 200, "OK");
  ExpectAnswer(Relax("x", "Origin: http://test\r\nSec-Fetch-Site: same-origin\r\n"), 200, "x");
}

TEST_F(HttpCallTest, ASlashInDisguiseNamesNoMethod) {
  ExpectAnswer(Post("/TreeService%2FRelax", "{}"), 404, "ENOSERVICE");
  ExpectAnswer(Post("/TreeService/%52elax", "{}"), 200, "text");
}

TEST_F(HttpCallTest, AnUpgradeIsNotTaken) {
  ExpectAnswer(Relax("hi",
                     "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                     "HTTP2-Settings: AAMAAABkAAQAAP__\r\n"),
               200, "{\"text\":\"hi\"}");
  EXPECT_FALSE(closed());
}

TEST_F(HttpCallTest, NothingBehindTheLastRequestIsRun) {
  Keep();
  EXPECT_EQ(Ask(Relax("1", "Connection: close\r\n") + Relax("2")), "");
  AnswerOldest();
  EXPECT_EQ(Count(Written(), "HTTP/1.1 200"), 1);
  EXPECT_TRUE(closed());
  EXPECT_EQ(service_.heard, std::vector<std::string>{"1"});
}

TEST_F(HttpCallTest, OneAtATimeInTheirOrder) {
  Keep();
  EXPECT_EQ(Ask(Relax("1") + Relax("2") + Relax("3")), "");
  EXPECT_EQ(service_.heard, std::vector<std::string>{"1"});
  EXPECT_TRUE(wire_->paused);
  AnswerOldest();
  EXPECT_TRUE(absl::StrContains(Written(), "{\"text\":\"1\"}"));
  EXPECT_EQ(service_.heard, (std::vector<std::string>{"1", "2"}));
  AnswerOldest();
  AnswerOldest();
  EXPECT_EQ(Count(Written(), "HTTP/1.1 200"), 2);
}

TEST_F(HttpCallTest, WhatGoesBesideTheMessageReachesTheHandler) {
  service_.relax = [this](Controller& controller, Loose&, Closure* done) {
    EXPECT_EQ(controller.log_id(), 5);
    EXPECT_EQ(controller.request_id(), "r");
    EXPECT_EQ(controller.deadline() - world_.clock.Now(), std::chrono::milliseconds(50));
    const std::string* const tenant = controller.request_user_fields().Find("tenant");
    EXPECT_TRUE(tenant != nullptr && *tenant == "blue");
    controller.response_user_fields().Set("Took", "5 ms");
    controller.response_user_fields().Set("Evil", "a\r\nSet-Cookie: b");
    controller.response_attachment().Append(absl::string_view("dropped"));
    done->Run();
  };
  const std::string answer =
      Ask(Relax("x",
                "X-Log-Id: 5\r\nX-Request-Id: r\r\nX-Farcall-Timeout-Ms: 50\r\n"
                "X-Farcall-Field-Tenant: blue\r\n"));
  EXPECT_TRUE(absl::StrContains(answer, "x-farcall-field-Took: 5 ms\r\n")) << answer;
  EXPECT_FALSE(absl::StrContains(answer, "Cookie")) << answer;
  EXPECT_TRUE(absl::EndsWith(answer, "{\"text\":\"x\"}")) << answer;
}

TEST_F(HttpCallTest, ADeadlineThatHasPassedIs504) {
  Accept();
  wire_->Deliver(Relax("x", "x-farcall-timeout-ms: 10\r\n"));
  world_.clock.Advance(std::chrono::milliseconds(11));
  world_.Run();
  EXPECT_TRUE(absl::StartsWith(Written(), "HTTP/1.1 504 Gateway Timeout\r\n"));
  EXPECT_TRUE(service_.heard.empty());
}

TEST_F(HttpCallTest, AStoppingServerAnswers503AndCloses) {
  Accept();
  core_->stopping = true;
  ExpectAnswer(Relax("x"), 503, "\"error\":\"ELOGOFF\"");
  EXPECT_TRUE(closed());
}

TEST_F(HttpCallTest, TheServersLimitAnswers503) {
  core_->limit.Set(MaxConcurrency(1));
  Keep();
  Accept();
  const std::shared_ptr<FakeWire> first = wire_;
  EXPECT_EQ(Ask(Relax("1")), "");
  Accept();
  ExpectAnswer(Relax("2"), 503, "max_concurrency 1 is reached");
  EXPECT_FALSE(closed());
  AnswerOldest();
  ExpectAnswer(Get("/health"), 200, "OK");
  End();
  wire_ = first;
}

TEST_F(HttpCallTest, AHandlerHearsThatItsConnectionClosed) {
  Controller* called = nullptr;
  service_.relax = [&](Controller& controller, Loose&, Closure* done) {
    called = &controller;
    closures_.push_back(done);
  };
  EXPECT_EQ(Ask(Relax("x")), "");
  ASSERT_NE(called, nullptr);
  EXPECT_FALSE(called->IsCanceled());
  wire_->End(absl::UnavailableError("closed by peer"));
  world_.Run();
  EXPECT_TRUE(called->IsCanceled());
  AnswerOldest();
  EXPECT_EQ(Written(), "");
}

TEST_F(HttpCallTest, ALateAnswerOfAClosedConnectionIsDropped) {
  Keep();
  EXPECT_EQ(Ask(Relax("1", "Connection: close\r\n")), "");
  End();
  AnswerOldest();
  EXPECT_EQ(core_->unanswered.count(), 0);
}

TEST_F(HttpCallTest, WhatIsAnsweredIsCounted) {
  const MethodStats& grow = core_->services.Find("TreeService.Grow").state->stats;
  Ask(Post("/TreeService/Grow", R"({"name":"a"})"));
  EXPECT_EQ(grow.snapshot().errors(), 0u);
  // The handler means no harm, and nothing but an error can be sent.
  Ask(Post("/TreeService/Grow", R"({"name":"wither"})", "Content-Type: application/json\r\n"));
  Ask(Post("/TreeService/Grow", Named("wither"), "Content-Type: application/proto\r\n"));
  EXPECT_EQ(grow.snapshot().ended[ErrorClassOf(kBadResponse)], 2u);
  std::vector<BlockRef> all;
  for (const uint32_t size : {BlockPool::kSmall, BlockPool::kMedium, BlockPool::kLarge}) {
    while (BlockRef block = world_.pool->Allocate(size)) all.push_back(std::move(block));
  }
  ExpectAnswer(Post("/TreeService/Grow", Named("b"), "Content-Type: application/proto\r\n"), 503,
               "EOVERCROWDED");
  EXPECT_EQ(grow.snapshot().ended[ErrorClassOf(kOvercrowded)], 1u);
  EXPECT_EQ(grow.snapshot().ended_count(), 4u);
}

}  // namespace
}  // namespace farcall
