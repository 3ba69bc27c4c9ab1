// SPDX-License-Identifier: Apache-2.0
//
// What a handler does with its call: it throws, runs its closure twice, late, or never.

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <stdexcept>

#include "rpc/closure.h"
#include "rpc/dispatch/handler_pool.h"
#include "rpc/session/server/server_session_testing.h"
#include "transport/loop/drive/blocking.h"
#include "transport/loop/loop_testing.h"

namespace farcall {
namespace {

using Closure = google::protobuf::Closure;

class ServerHandlerTest : public ServerSessionTest {};

// Of a thread that drives a loop: whenever it is to wait, another one takes the drive.
struct WillingHook final : BlockingHook {
  WillingHook() { SetBlockingHook(this); }
  ~WillingHook() { SetBlockingHook(nullptr); }
  absl::Status BeforeBlocking() override { return absl::OkStatus(); }
};

TEST_F(ServerHandlerTest, AHandlerThatRanForLongAndThenWaitsLeavesItsPlaceToOthers) {
  core_->handlers = std::make_unique<HandlerPool>(/*most=*/1);
  WillingHook hook;
  for (int round = 0; round < 2; ++round) {
    TestEvent other;
    service_.say = [&](Controller&, Closure* done) {
      EXPECT_EQ(hook.watched.TakeName(), "farcall.one.Lone.Say");
      core_->handlers->Submit(*new UserClosure([&] { other.Signal(); }));
      EXPECT_EQ(other.count(), 0) << "one handler runs at once";
      EXPECT_TRUE(BeforeBlocking().ok());
      EXPECT_TRUE(other.Wait());
      done->Run();
    };
    if (round == 0) Accept();
    wire_->Deliver(Request(1));
    EXPECT_EQ(Answer().meta.response().error_code(), 0);
  }
  EXPECT_EQ(core_->counters.long_handlers.load(), 2u);
}

// As on a busy machine: its loop is given to another thread before its handler begins.
TEST_F(ServerHandlerTest, ACallWhoseLoopIsTakenHasItsPlaceFromThenOn) {
  core_->handlers = std::make_unique<HandlerPool>(/*most=*/1);
  Accept();
  wire_->Deliver(Request(1));
  TestEvent other;
  DriverClaim::Piece piece = 0;
  {
    WillingHook hook;
    ASSERT_TRUE(world_.loop->Turn());
    UserTask* const task = world_.loop->TakeUser(piece);
    ASSERT_NE(task, nullptr);
    EXPECT_EQ(hook.watched.TakeName(), "farcall.one.Lone.Say");
    core_->handlers->Submit(*new UserClosure([&] { other.Signal(); }));
    EXPECT_EQ(core_->handlers->waiting(), 1u) << "one handler runs at once";
    task->Run();
    EXPECT_TRUE(other.Wait());
    EXPECT_EQ(hook.watched.TakeName(), "");
  }
  EXPECT_TRUE(world_.loop->EndTurn(piece));
  core_->handlers->Stop();
  EXPECT_EQ(Answer().meta.response().error_code(), 0);
}

TEST_F(ServerHandlerTest, ACallThatGoesToTheHandlerThreadsLeavesItsPlaceOnTheLoop) {
  core_->handlers = std::make_unique<HandlerPool>(/*most=*/1);
  TestEvent handled;
  service_.say = [&](Controller&, Closure* done) {
    done->Run();
    handled.Signal();
  };
  Accept();
  wire_->Deliver(Request(1));
  wire_->Deliver(Request(2));
  {
    WillingHook hook;
    DriverClaim::Piece piece = 0;
    ASSERT_TRUE(world_.loop->Turn());
    for (int taken = 1; taken <= 2; ++taken) {
      UserTask* const task = world_.loop->TakeUser(piece);
      ASSERT_NE(task, nullptr);
      // The second time its method is slow by that, before its handler has begun.
      EXPECT_EQ(hook.watched.TakeName(), "farcall.one.Lone.Say");
      task->Run();
      EXPECT_EQ(hook.watched.TakeName(), "");
      EXPECT_TRUE(handled.Wait(taken));
    }
    EXPECT_TRUE(world_.loop->EndTurn(piece));
  }
  // The handler's thread has yet to leave the call.
  core_->handlers->Stop();
  world_.Run();
  EXPECT_EQ(wire_->TakeFrames().size(), 2u);
  EXPECT_TRUE(core_->services.Find("Lone.Say").state->pace.on_pool());
}

TEST_F(ServerHandlerTest, RequestsThatNoHandlerRanDoNotHideThatAMethodIsSlow) {
  core_->handlers = std::make_unique<HandlerPool>(/*most=*/1);
  WillingHook hook;
  service_.say = [&](Controller&, Closure* done) {
    EXPECT_EQ(hook.watched.TakeName(), "farcall.one.Lone.Say");
    done->Run();
  };
  Accept();
  wire_->Deliver(Request(1));
  EXPECT_EQ(Answer().meta.response().error_code(), 0);
  wire::RpcMeta hasty = RequestMeta(2);
  hasty.mutable_request()->set_timeout_ms(50);
  for (uint64_t i = 0; i <= MethodPace::kFewCalls; ++i) wire_->Deliver(Encoded(hasty, "late"));
  world_.clock.Advance(std::chrono::milliseconds(51));
  world_.Run();
  EXPECT_EQ(wire_->TakeFrames().size(), MethodPace::kFewCalls + 1);
  EXPECT_EQ(core_->counters.late, MethodPace::kFewCalls + 1);
  wire_->Deliver(Request(3));
  EXPECT_EQ(Answer().meta.response().error_code(), 0);
  EXPECT_TRUE(core_->services.Find("Lone.Say").state->pace.on_pool());
}

TEST_F(ServerHandlerTest, CallsThatTheirHandlersFailHaveRun) {
  core_->handlers = std::make_unique<HandlerPool>(/*most=*/1);
  WillingHook hook;
  service_.say = [&](Controller& controller, Closure* done) {
    if (service_.heard.back() == "long") {
      EXPECT_EQ(hook.watched.TakeName(), "farcall.one.Lone.Say");
    }
    controller.SetFailed(ENOENT, "no such key");
    done->Run();
  };
  Accept();
  for (int round = 0; round < 5; ++round) {
    wire_->Deliver(Request(1, "long"));
    for (uint64_t i = 0; i <= MethodPace::kFewCalls; ++i) wire_->Deliver(Request(2, "quick"));
    world_.Run();
    EXPECT_EQ(wire_->TakeFrames().size(), MethodPace::kFewCalls + 2);
  }
  EXPECT_FALSE(core_->services.Find("Lone.Say").state->pace.on_pool());
}

TEST_F(ServerHandlerTest, WhatACallbackOfNotifyOnCancelThrowsHarmsNoCall) {
  Accept();
  service_.say = [&](Controller& controller, Closure* done) {
    controller.NotifyOnCancel(NewClosure([] { throw std::runtime_error("no longer there"); }));
    if (service_.heard.size() == 1) return done->Run();
    closures_.push_back(done);
  };
  wire_->Deliver(Request(1));
  EXPECT_EQ(Answer().meta.response().error_code(), 0);
  EXPECT_TRUE(
      Logged("a callback of NotifyOnCancel of farcall.one.Lone.Say threw: no longer there"));
  EXPECT_EQ(core_->unanswered.count(), 0);
  world_.log.clear();
  wire_->Deliver(Request(2));
  world_.Run();
  wire_->End(absl::UnavailableError("closed by peer"));
  world_.Run();
  EXPECT_TRUE(
      Logged("a callback of NotifyOnCancel of farcall.one.Lone.Say threw: no longer there"));
  AnswerOldest();
}

TEST_F(ServerHandlerTest, AHandlerThatThrowsFailsItsCall) {
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

TEST_F(ServerHandlerTest, AGuardThatAnExceptionSetsOffIsNoSuccess) {
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

TEST_F(ServerHandlerTest, AnAnswerBeforeAnExceptionStands) {
  Accept();
  service_.say = [](Controller&, Closure* done) {
    done->Run();
    throw std::runtime_error("afterthought");
  };
  wire_->Deliver(Request(1));
  EXPECT_EQ(Answer().meta.response().error_code(), 0);
  EXPECT_TRUE(Logged("threw: afterthought"));
}

TEST_F(ServerHandlerTest, AClosureThatIsRunTwiceAnswersOnce) {
  Accept();
  service_.say = [](Controller&, Closure* done) {
    done->Run();
    done->Run();
  };
  wire_->Deliver(Request(1));
  EXPECT_EQ(Answer().meta.response().error_code(), 0);
  EXPECT_TRUE(Logged("the closure of farcall.one.Lone.Say was run twice"));
}

TEST_F(ServerHandlerTest, AClosureMayBeRunAfterTheConnection) {
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

TEST_F(ServerHandlerTest, TheEndOfTheConnectionIsToldToWhoAskedForIt) {
  int notified = 0;
  service_.say = [&](Controller& controller, Closure* done) {
    EXPECT_FALSE(controller.IsCanceled());
    controller.NotifyOnCancel(NewClosure([&] {
      ++notified;
      EXPECT_TRUE(controller.IsCanceled());
    }));
    closures_.push_back(done);
  };
  Accept();
  wire_->Deliver(Request(1));
  world_.Run();
  EXPECT_EQ(notified, 0);
  wire_->End(absl::UnavailableError("closed by peer"));
  world_.Run();
  EXPECT_EQ(notified, 1);
  AnswerOldest();
  EXPECT_EQ(notified, 1);
}

// Whoever destroys the pool checks that its blocks came home.
TEST_F(ServerHandlerTest, AForgottenClosureKeepsNoBlocks) {
  Keep();
  Accept();
  wire_->Deliver(Request(1, "forgotten"));
  world_.Run();
  service_.say = [](Controller&, Closure* done) { done->Run(); };
  for (int id = 2; id <= 3; ++id) {
    wire_->Deliver(Request(id, "answered"));
    world_.Run();
  }
  wire_->written.Clear();
  EXPECT_GT(world_.pool->stats().used_bytes, 0u) << "who reads slowly gets the next answer of it";
  wire_->End(absl::UnavailableError("closed by peer"));
  world_.Run();
  EXPECT_EQ(world_.pool->stats().used_bytes, 0u);
  AnswerOldest();
}

}  // namespace
}  // namespace farcall
