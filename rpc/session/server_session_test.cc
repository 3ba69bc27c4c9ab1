// SPDX-License-Identifier: Apache-2.0
//
// A server's end of a connection, step by step.

#include "rpc/session/server_session.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "rpc/closure.h"
#include "rpc/dispatch/test_services.pb.h"
#include "rpc/session/session_testing.h"

namespace farcall {
namespace {

using Closure = google::protobuf::Closure;

// Lone.Say does what the test says.
class Scripted final : public one::Lone {
 public:
  void Say(google::protobuf::RpcController* controller, const one::Ping* request,
           one::Ping* response, Closure* done) override {
    heard.push_back(request->text());
    response->set_text(request->text());
    say(static_cast<Controller&>(*controller), done);
  }

  std::function<void(Controller&, Closure*)> say = [](Controller&, Closure* done) { done->Run(); };
  std::vector<std::string> heard;
};

class ServerSessionTest : public ::testing::Test {
 protected:
  ServerSessionTest() {
    core_->parts = world_.parts;
    EXPECT_TRUE(core_->services.Add(service_).ok());
  }
  ~ServerSessionTest() override {
    wire_->loop = world_.loop.get();
    wire_->End(absl::UnavailableError("closed by peer"));
    world_.Run();
    EXPECT_EQ(core_->connections.count(), 0);
    EXPECT_EQ(core_->running.count(), 0);
    if (closures_.empty()) {
      EXPECT_EQ(core_.use_count(), 1) << "calls and sessions are gone";
      EXPECT_EQ(core_->unanswered.count(), 0);
    }
  }

  void Accept() {
    world_.loop->RunOrPost([&] {
      ServerSession::Accept(core_, *world_.loop,
                            std::make_unique<FakeConnection>(*world_.loop, *world_.pool, wire_));
    });
  }
  static std::string Request(int64_t id, const std::string& text = "") {
    wire::RpcMeta meta;
    meta.mutable_request()->set_service_name("farcall.one.Lone");
    meta.mutable_request()->set_method_name("Say");
    meta.set_correlation_id(id);
    one::Ping ping;
    if (!text.empty()) ping.set_text(text);
    const auto encoder = FrameEncoder::Create(meta, &ping, 0);
    std::string bytes(encoder->head_size(), '\0');
    encoder->WriteTo(bytes.data());
    return bytes;
  }
  // Handlers keep their closures.
  void Keep() {
    service_.say = [this](Controller&, Closure* done) { closures_.push_back(done); };
  }
  void AnswerOldest() {
    Closure* const done = closures_.front();
    closures_.erase(closures_.begin());
    done->Run();
    world_.Run();
  }
  // The only answer since the last time.
  Frame Answer() {
    world_.Run();
    std::vector<Frame> frames = wire_->TakeFrames();
    EXPECT_EQ(frames.size(), 1u);
    return frames.empty() ? Frame() : std::move(frames.front());
  }
  bool Logged(absl::string_view part) const {
    for (const std::string& line : world_.log) {
      if (absl::StrContains(line, part)) return true;
    }
    return false;
  }

  SessionWorld world_;
  Scripted service_;
  std::shared_ptr<ServerCore> core_ = std::make_shared<ServerCore>();
  std::shared_ptr<FakeWire> wire_ = std::make_shared<FakeWire>();
  std::vector<Closure*> closures_;
};

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

TEST_F(ServerSessionTest, AHandlerThatThrowsFailsItsCall) {
  Accept();
  service_.say = [](Controller&, Closure*) { throw std::runtime_error("disk on fire"); };
  wire_->Deliver(Request(1));
  Frame answer = Answer();
  EXPECT_EQ(answer.meta.response().error_code(), kInternal);
  EXPECT_EQ(answer.meta.response().error_text(), "exception: disk on fire");
  EXPECT_TRUE(Logged("the handler of farcall.one.Lone.Say threw: disk on fire"));

  service_.say = [](Controller&, Closure*) { throw 42; };
  wire_->Deliver(Request(2));
  answer = Answer();
  EXPECT_EQ(answer.meta.response().error_code(), kInternal);
  EXPECT_TRUE(Logged("threw: something that is no std::exception"));
}

TEST_F(ServerSessionTest, AGuardThatAnExceptionSetsOffIsNoSuccess) {
  Accept();
  service_.say = [](Controller&, Closure* done) {
    const ClosureGuard guard(done);
    throw std::runtime_error("not written");
  };
  wire_->Deliver(Request(1));
  Frame answer = Answer();
  EXPECT_EQ(answer.meta.response().error_code(), kInternal);
  EXPECT_TRUE(answer.payload.empty());
  EXPECT_TRUE(Logged("threw: not written"));

  service_.say = [](Controller& controller, Closure* done) {
    const ClosureGuard guard(done);
    controller.SetFailed(ENOSPC, "the handler's own word");
    throw std::runtime_error("later");
  };
  wire_->Deliver(Request(2));
  answer = Answer();
  EXPECT_EQ(answer.meta.response().error_code(), ENOSPC);
}

TEST_F(ServerSessionTest, AnAnswerBeforeAnExceptionStands) {
  Accept();
  service_.say = [](Controller&, Closure* done) {
    done->Run();
    throw std::runtime_error("afterthought");
  };
  wire_->Deliver(Request(1));
  EXPECT_EQ(Answer().meta.response().error_code(), 0);
  EXPECT_TRUE(Logged("threw: afterthought"));
}

TEST_F(ServerSessionTest, AClosureThatIsRunTwiceAnswersOnce) {
  Accept();
  service_.say = [](Controller&, Closure* done) {
    done->Run();
    done->Run();
  };
  wire_->Deliver(Request(1));
  EXPECT_EQ(Answer().meta.response().error_code(), 0);
  EXPECT_TRUE(Logged("the closure of farcall.one.Lone.Say was run twice"));
}

TEST_F(ServerSessionTest, AClosureMayBeRunAfterTheConnection) {
  Keep();
  Accept();
  wire_->Deliver(Request(1) + Request(2));
  world_.Run();
  ASSERT_EQ(closures_.size(), 2u);
  wire_->End(absl::UnavailableError("closed by peer"));
  world_.Run();
  EXPECT_EQ(core_->connections.count(), 0);
  EXPECT_EQ(core_->unanswered.count(), 2);
  AnswerOldest();
  AnswerOldest();
  EXPECT_EQ(core_->unanswered.count(), 0);
  EXPECT_TRUE(wire_->written.empty());
}

TEST_F(ServerSessionTest, TheEndOfTheConnectionIsToldToWhoAskedForIt) {
  int told = 0;
  service_.say = [&](Controller& controller, Closure* done) {
    EXPECT_FALSE(controller.IsCanceled());
    controller.NotifyOnCancel(NewClosure([&] {
      ++told;
      EXPECT_TRUE(controller.IsCanceled());
    }));
    closures_.push_back(done);
  };
  Accept();
  wire_->Deliver(Request(1));
  world_.Run();
  EXPECT_EQ(told, 0);
  wire_->End(absl::UnavailableError("closed by peer"));
  world_.Run();
  EXPECT_EQ(told, 1);
  AnswerOldest();
  EXPECT_EQ(told, 1);
}

// Whoever destroys the pool checks that its blocks came home.
TEST_F(ServerSessionTest, AForgottenClosureKeepsNoBlocks) {
  Keep();
  Accept();
  wire_->Deliver(Request(1, "forgotten"));
  world_.Run();
  service_.say = [](Controller&, Closure* done) { done->Run(); };
  wire_->Deliver(Request(2, "answered"));
  Answer();
  EXPECT_GT(world_.pool->stats().used_bytes, 0u) << "what the next answer is written to";
  wire_->End(absl::UnavailableError("closed by peer"));
  world_.Run();
  EXPECT_EQ(world_.pool->stats().used_bytes, 0u);
  AnswerOldest();
}

TEST_F(ServerSessionTest, GarbageClosesAndIsLoggedWithThePeer) {
  Accept();
  wire_->Deliver("GET / HTTP/1.1\r\n\r\n");
  world_.Run();
  EXPECT_TRUE(wire_->destroyed);
  EXPECT_TRUE(Logged("connection from 192.0.2.1:80 closed: no RPC frame"));
}

TEST_F(ServerSessionTest, AServerThatHasClosedTakesNoConnection) {
  EXPECT_TRUE(core_->TakeAll().empty());
  Accept();
  EXPECT_TRUE(wire_->destroyed);
  EXPECT_EQ(core_->connections.count(), 0);
}

}  // namespace
}  // namespace farcall
