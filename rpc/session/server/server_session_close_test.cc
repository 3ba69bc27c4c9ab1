// SPDX-License-Identifier: Apache-2.0
//
// How a server's end of a connection ends: what it reads and says then, and which calls are not
// run.

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <vector>

#include "rpc/session/server/refuse_waiting.h"
#include "rpc/session/server/server_session.h"
#include "rpc/session/server/server_session_testing.h"

namespace farcall {
namespace {

class ServerSessionCloseTest : public ServerSessionTest {};

TEST_F(ServerSessionCloseTest, AServerThatHasClosedTakesNoConnection) {
  EXPECT_TRUE(core_->TakeAll().empty());
  Accept();
  EXPECT_TRUE(wire_->destroyed);
  EXPECT_EQ(core_->connections.count(), 0);
}

TEST_F(ServerSessionCloseTest, AnOrderlyCloseEndsWithAGoAway) {
  Accept();
  wire_->Deliver(Request(5));
  Answer();
  CloseAll(absl::CancelledError("the server stopped"));
  const Frame go_away = Answer();
  EXPECT_EQ(go_away.meta.correlation_id(), 0);
  EXPECT_EQ(go_away.meta.response().error_code(), kLogoff);
  EXPECT_TRUE(wire_->destroyed);
}

TEST_F(ServerSessionCloseTest, WhoOwesAnAnswerSendsNoGoAway) {
  Keep();
  Accept();
  wire_->Deliver(Request(5));
  world_.Run();
  CloseAll(absl::CancelledError("the server stopped"));
  world_.Run();
  EXPECT_TRUE(wire_->written.empty());
  AnswerOldest();
  EXPECT_TRUE(wire_->written.empty());
}

// Its first request may be on the way, or waits to be read.
TEST_F(ServerSessionCloseTest, APeerThatHasNotSpokenGetsAGoAwayToo) {
  Accept();
  CloseAll(absl::CancelledError("the server stopped"));
  const Frame go_away = Answer();
  EXPECT_EQ(go_away.meta.correlation_id(), 0);
  EXPECT_EQ(go_away.meta.response().error_code(), kLogoff);
  EXPECT_TRUE(wire_->destroyed);
}

TEST_F(ServerSessionCloseTest, WhoDidNotSayItsProtocolYetIsSpokenToInFrames) {
  Accept();
  wire_->Deliver("PR");
  world_.Run();
  CloseAll(absl::CancelledError("the server stopped"));
  EXPECT_EQ(Answer().meta.response().error_code(), kLogoff);
  EXPECT_TRUE(wire_->destroyed);
}

// The loop may find out about them only after it has heard of the end.
TEST_F(ServerSessionCloseTest, BytesThatHaveComeSayInWhichProtocolToAnswer) {
  class Greeter final : public ServerProtocol {
   public:
    explicit Greeter(ServerSession& session) : session_(session) {}
    absl::string_view name() const override { return "greeter"; }
    int max_calls() const override { return 1; }
    absl::StatusOr<size_t> OnRead(Buffer& input) override {
      input.Clear();
      session_.Write("good-bye", Buffer());
      return 0;
    }

   private:
    ServerSession& session_;
  };
  core_->http = [](ServerSession& session) { return std::make_unique<Greeter>(session); };
  Accept();
  CloseAll(absl::CancelledError("the server stopped"));
  EXPECT_FALSE(wire_->closing);
  wire_->Deliver("GET / HTTP/1.1\r\n\r\n");
  world_.Run();
  EXPECT_EQ(wire_->written.ToString(), "good-bye") << "and no frame behind it";
  EXPECT_TRUE(wire_->destroyed);
}

TEST_F(ServerSessionCloseTest, ARequestThatIsReadAtTheEndIsRefusedBeforeTheGoAway) {
  core_->stopping = true;
  Accept();
  CloseAll(absl::CancelledError("the server stopped"));
  CloseAll(absl::CancelledError("a second time is nothing"));
  wire_->Deliver(Request(7));
  world_.Run();
  const std::vector<Frame> answers = wire_->TakeFrames();
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0].meta.correlation_id(), 7);
  EXPECT_EQ(answers[1].meta.correlation_id(), 0);
  for (const Frame& answer : answers) EXPECT_EQ(answer.meta.response().error_code(), kLogoff);
  EXPECT_TRUE(wire_->destroyed);
}

TEST_F(ServerSessionCloseTest, AConnectionMayEndDuringTheLastLook) {
  Accept();
  CloseAll(absl::CancelledError("the server stopped"));
  wire_->End(absl::UnavailableError("closed by peer"));
  world_.Run();
  EXPECT_TRUE(wire_->written.empty());
  EXPECT_TRUE(wire_->destroyed);
}

TEST_F(ServerSessionCloseTest, ACallThatWasClaimedIsNotRun) {
  Accept();
  wire_->Deliver(Request(1) + Request(2));
  RefuseWaiting(core_->Sessions(), kLogoff, "too late", std::chrono::seconds(1));
  world_.Run();
  EXPECT_TRUE(service_.heard.empty());
  const std::vector<Frame> answers = wire_->TakeFrames();
  ASSERT_EQ(answers.size(), 2u);
  for (const Frame& answer : answers) {
    EXPECT_EQ(answer.meta.response().error_code(), kLogoff);
    EXPECT_EQ(answer.meta.response().error_text(), "too late");
  }
}

// Its connection has gone, so ClaimWaiting does not find it.
TEST_F(ServerSessionCloseTest, ACallThatHasNotBegunWhenCallsAreOverIsNotRun) {
  Accept();
  wire_->Deliver(Request(1));
  wire_->End(absl::UnavailableError("closed by peer"));
  core_->calls_over = true;
  world_.Run();
  EXPECT_TRUE(service_.heard.empty());
  EXPECT_EQ(core_->unanswered.count(), 0);
}

TEST_F(ServerSessionCloseTest, ACallThatBeganIsNotClaimed) {
  Keep();
  Accept();
  wire_->Deliver(Request(1));
  world_.Run();
  RefuseWaiting(core_->Sessions(), kLogoff, "too late", std::chrono::seconds(1));
  AnswerOldest();
  EXPECT_EQ(Answer().meta.response().error_code(), 0);
}

}  // namespace
}  // namespace farcall
