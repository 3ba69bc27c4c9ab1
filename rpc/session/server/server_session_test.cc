// SPDX-License-Identifier: Apache-2.0
//
// A server's end of a connection, step by step.

#include "rpc/session/server/server_session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rpc/session/server/server_session_testing.h"

namespace farcall {
namespace {

TEST_F(ServerSessionTest, AnswersWithTheCallsId) {
  Accept();
  wire_->Deliver(Request(77, "hello"));
  const Frame answer = Answer();
  EXPECT_EQ(answer.meta.correlation_id(), 77);
  EXPECT_EQ(answer.meta.response().error_code(), 0);
  one::Ping pong;
  EXPECT_TRUE(pong.ParseFromString(answer.payload.ToString()));
  EXPECT_EQ(pong.text(), "hello");
}

TEST_F(ServerSessionTest, TheLimitOfAConnectionIsExactWithinOneRead) {
  core_->options.max_concurrency_per_connection = 1;
  Keep();
  Accept();
  wire_->Deliver(Request(1, "a") + Request(2, "b") + Request(3, "c"));
  world_.Run();
  EXPECT_EQ(service_.heard, (std::vector<std::string>{"a"}));
  EXPECT_TRUE(wire_->paused);
  AnswerOldest();
  EXPECT_EQ(service_.heard, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(wire_->paused);
  AnswerOldest();
  AnswerOldest();
  EXPECT_EQ(service_.heard, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_FALSE(wire_->paused);
  EXPECT_EQ(wire_->TakeFrames().size(), 3u);
}

// What untrusted peers are given beside the connection is limited (transport.h).
TEST_F(ServerSessionTest, AGoodRequestEndsBeingAStrangerAndABadOneDoesNot) {
  Accept();
  EXPECT_EQ(wire_->trusted, 0);
  wire::RpcMeta meta = RequestMeta(1);
  meta.mutable_request()->set_method_name("Unknown");
  wire_->Deliver(Encoded(meta, "hello"));
  EXPECT_EQ(Answer().meta.response().error_code(), kNoMethod);
  EXPECT_EQ(wire_->trusted, 0);
  core_->limit.Set(1);
  ASSERT_EQ(core_->limit.Begin(), ConcurrencyLimit::Entry::kCounted);
  wire_->Deliver(Request(2));
  EXPECT_EQ(Answer().meta.response().error_code(), kLimit);
  EXPECT_EQ(wire_->trusted, 0) << "who is refused";
  core_->limit.Revoke(ConcurrencyLimit::Entry::kCounted);
  wire_->Deliver(Request(3));
  EXPECT_EQ(Answer().meta.response().error_code(), 0);
  EXPECT_EQ(wire_->trusted, 1);
  wire_->Deliver(Request(4));
  EXPECT_EQ(Answer().meta.response().error_code(), 0);
  EXPECT_EQ(wire_->trusted, 1) << "once";
}

TEST_F(ServerSessionTest, ACallRunsFromItsAdmissionOn) {
  Accept();
  wire_->Deliver(Request(1));
  EXPECT_TRUE(service_.heard.empty());
  EXPECT_EQ(core_->running.count(), 1) << "who waits for the handlers waits for this one too";
  world_.Run();
  EXPECT_EQ(service_.heard.size(), 1u);
  EXPECT_EQ(core_->running.count(), 0);
}

TEST_F(ServerSessionTest, WhoStopsRefusesAndWaitsForNothingThatWasRefused) {
  core_->options.max_concurrency = 1;
  Keep();
  Accept();
  wire_->Deliver(Request(1));
  world_.Run();
  core_->stopping = true;
  wire_->Deliver(Request(2));
  EXPECT_EQ(Answer().meta.response().error_code(), kLogoff) << "not ELIMIT, although it is reached";
  EXPECT_EQ(core_->unanswered.count(), 1);
  AnswerOldest();
  EXPECT_EQ(core_->unanswered.count(), 0);
  wire_->Deliver(Request(3));
  EXPECT_EQ(service_.heard.size(), 1u);
  EXPECT_EQ(core_->unanswered.count(), 0);
}

// Stop looks at the count at any time, and tells it.
TEST_F(ServerSessionTest, WhatAServerThatStopsRefusesIsNotCountedForAMoment) {
  core_->stopping = true;
  Accept();
  std::atomic<bool> done{false};
  int most = 0;
  std::thread watcher([&] {
    while (!done) most = std::max(most, core_->unanswered.count());
  });
  std::string requests;
  for (int i = 1; i <= 100; ++i) requests += Request(i);
  for (int i = 0; i < 100; ++i) {
    wire_->Deliver(requests);
    world_.Run();
    EXPECT_EQ(wire_->TakeFrames().size(), 100u);
  }
  done = true;
  watcher.join();
  EXPECT_EQ(most, 0);
}

TEST_F(ServerSessionTest, GarbageClosesAndIsLoggedWithThePeer) {
  Accept();
  wire_->Deliver("what is this");
  world_.Run();
  EXPECT_TRUE(wire_->destroyed);
  EXPECT_TRUE(Logged("connection from 192.0.2.1:80 closed: no RPC frame"));
}

TEST_F(ServerSessionTest, TheFirstBytesChooseTheProtocol) {
  // A protocol that answers each byte.
  class Echo final : public ServerProtocol {
   public:
    explicit Echo(ServerSession& session) : session_(session) {}
    absl::string_view name() const override { return "echo"; }
    int max_calls() const override { return 1; }
    absl::StatusOr<size_t> OnRead(Buffer& input) override {
      session_.Took();
      session_.Write("heard: ", std::move(input));
      input.Clear();
      return 0;
    }

   private:
    ServerSession& session_;
  };
  core_->http = [](ServerSession& session) { return std::make_unique<Echo>(session); };
  Accept();
  wire_->Deliver("P");
  world_.Run();
  EXPECT_TRUE(wire_->written.empty()) << "it may become a frame";
  wire_->Deliver("OST /");
  world_.Run();
  EXPECT_EQ(wire_->written.ToString(), "heard: POST /");
}

TEST_F(ServerSessionTest, AServerWithoutHttpSaysThatItIsNoFrame) {
  Accept();
  wire_->Deliver("GET / HTTP/1.1\r\n\r\n");
  world_.Run();
  EXPECT_TRUE(wire_->destroyed);
  EXPECT_TRUE(Logged("no RPC frame"));
  EXPECT_EQ(core_->counters.bad_peers, 1u);
}

TEST_F(ServerSessionTest, ShowsItselfToTheStatusPage) {
  Keep();
  Accept();
  wire_->Deliver(Request(1) + Request(2));
  world_.Run();
  AnswerOldest();
  const auto session = core_->Sessions().front();
  std::optional<ServerConnectionView> view;
  world_.loop->RunOrPost([&] { view = session->View(); });
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->protocol, "baidu_std");
  EXPECT_EQ(view->calls, 1);
  EXPECT_EQ(view->requests, 2u);
  EXPECT_EQ(view->info.peer.ToString(), "192.0.2.1:80");
  EXPECT_EQ(view->user, "");
  wire_->End(absl::UnavailableError("closed by peer"));
  world_.loop->RunOrPost([&] { view = session->View(); });
  EXPECT_FALSE(view.has_value());
  AnswerOldest();
}

}  // namespace
}  // namespace farcall
