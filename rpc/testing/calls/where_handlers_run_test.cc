// SPDX-License-Identifier: Apache-2.0
//
// Handlers run where their requests are read; those that hold up a loop lose it, and their method
// goes to the handler threads for as long as it is slow.

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rpc/closure.h"
#include "rpc/errors.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"

namespace farcall {
namespace {

std::string ThreadName() {
  char name[16] = {};
  EXPECT_EQ(::pthread_getname_np(::pthread_self(), name, sizeof(name)), 0);
  return name;
}

// Echoes; "block" does so once it is released, and tells how many are there at once. Answers tell
// the name of the thread.
class BlockingServer {
 public:
  explicit BlockingServer(int handler_threads, RuntimeOptions runtime = OneLoop())
      : runtime_(runtime),
        server_([this](auto& controller, const auto& request, auto& response,
                       auto* done) { Handle(controller, request, response, done); },
                On(handler_threads)) {}

  // So many calls that block, which end by the time that this is gone.
  void Block(Channel& channel, int calls) {
    for (int i = 0; i < calls; ++i) {
      blocked_.push_back(std::make_unique<TestCall>("block"));
      blocked_.back()->Start(channel);
    }
  }
  // The same from one closure of the client: they are sent, and read, together.
  void BlockTogether(Channel& channel, int calls) {
    Controller controller;
    test::EchoRequest request;
    request.set_message("to nobody");
    test::EchoResponse response;
    TestEvent started;
    test::MissingService_Stub(&channel).Echo(&controller, &request, &response, NewClosure([&] {
      Block(channel, calls);
      started.Signal();
    }));
    EXPECT_TRUE(started.Wait());
  }
  bool AwaitEntered(int calls) { return entered_.Wait(calls); }
  void Release() { release_.Signal(); }
  bool AllEchoed() {
    return std::all_of(blocked_.begin(), blocked_.end(),
                       [](const auto& call) { return call->Wait() && call->Echoed(); });
  }
  int entered() { return entered_.count(); }
  int most_at_once() const { return most_; }
  std::string address() const { return server_.address(); }
  TestRuntime& runtime() { return runtime_; }
  // The thread that ran a call.
  std::string NameOfThread(Channel& channel) {
    TestCall call("name");
    call.Call(channel);
    EXPECT_FALSE(call.controller.Failed()) << call.Error();
    return call.response.message();
  }

 private:
  ServerOptions On(int handler_threads) {
    ServerOptions options;
    options.runtime = &*runtime_;
    options.handler_threads = handler_threads;
    return options;
  }
  void Handle(Controller& controller, const test::EchoRequest& request,
              test::EchoResponse& response, google::protobuf::Closure* done) {
    if (request.message() == "block") {
      const int now = ++here_;
      int most = most_;
      while (now > most && !most_.compare_exchange_weak(most, now)) {
      }
      entered_.Signal();
      EXPECT_TRUE(release_.Wait());
      --here_;
    }
    if (request.message() != "name") return EchoBack(controller, request, response, done);
    response.set_message(ThreadName());
    done->Run();
  }

  TestEvent entered_;
  TestEvent release_;
  std::atomic<int> here_{0};
  std::atomic<int> most_{0};
  TestRuntime runtime_;
  TestServer server_;
  std::vector<std::unique_ptr<TestCall>> blocked_;
};

bool Idles(Channel& channel) {
  Controller controller;
  test::Nothing nothing;
  test::TestService_Stub(&channel).Idle(&controller, &nothing, &nothing, nullptr);
  return !controller.Failed();
}

// The loop itself answers: no handler runs that could be taken for slow.
bool LoopAnswers(Channel& channel) {
  Controller controller;
  test::EchoRequest request;
  request.set_message("to nobody");
  test::EchoResponse response;
  test::MissingService_Stub(&channel).Echo(&controller, &request, &response, nullptr);
  return controller.ErrorCode() == kNoService;
}

TEST(WhereHandlersRunTest, OnTheLoopOrTheHandlerThreads) {
  BlockingServer usual(-1);
  TestClient client(usual.address());
  EXPECT_EQ(usual.NameOfThread(client.channel()), "farcall-loop");

  TestServer always(
      [](auto&, const auto&, auto& response, auto* done) {
        response.set_message(ThreadName());
        done->Run();
      },
      OnPool());
  TestClient other(always.address());
  TestCall call;
  EXPECT_EQ(call.Call(other.channel()).response.message(), "farcall-handler");
}

TEST(WhereHandlersRunTest, OneThatBlocksHoldsUpNobody) {
  BlockingServer server(-1);
  TestClient client(server.address());
  server.Block(client.channel(), 1);
  ASSERT_TRUE(server.AwaitEntered(1));
  for (int i = 0; i < 100; ++i) {
    TestCall call;
    ASSERT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
    ASSERT_TRUE(Idles(client.channel()));
  }
  EXPECT_EQ(server.entered(), 1);
  EXPECT_TRUE(Eventually([&] { return (*server.runtime()).status().loops_taken_over > 0; }));
  server.Release();
  EXPECT_TRUE(server.AllEchoed());
}

TEST(WhereHandlersRunTest, ManyThatBlockAreLimitedAndToldAndHarmNoOtherMethod) {
  constexpr int kThreads = 3;
  constexpr int kCalls = 200;
  BlockingServer server(kThreads);
  TestClient client(server.address());
  server.Block(client.channel(), kCalls);
  ASSERT_TRUE(server.AwaitEntered(kThreads));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(LoopAnswers(client.channel()));
  ASSERT_TRUE(Idles(client.channel()));
  EXPECT_TRUE(server.runtime().log().Wait("wait for one of 3 handler threads"));
  EXPECT_TRUE(server.runtime().log().Wait("farcall.test.TestService.Echo"));
  EXPECT_EQ(server.entered(), kThreads);
  EXPECT_EQ((*server.runtime()).status().loops_held_up, 0u);
  server.Release();
  EXPECT_TRUE(server.AllEchoed());
  EXPECT_EQ(server.most_at_once(), kThreads);
}

// However many requests were read while one blocked, the second one shows that the method is slow.
TEST(WhereHandlersRunTest, BurstsOfCallsThatBlockAreLimitedToo) {
  constexpr int kThreads = 2;
  BlockingServer server(kThreads);
  TestClient client(server.address());
  server.Block(client.channel(), 1);
  ASSERT_TRUE(server.AwaitEntered(1));
  for (int burst = 0; burst < 4; ++burst) {
    server.BlockTogether(client.channel(), 40);
    ASSERT_TRUE(server.AwaitEntered(kThreads));
    // Answered by who drives the loop once one that blocks has lost it.
    ASSERT_TRUE(LoopAnswers(client.channel()));
  }
  EXPECT_EQ(server.entered(), kThreads);
  server.Release();
  EXPECT_TRUE(server.AllEchoed());
}

TEST(WhereHandlersRunTest, RequestsThatNoHandlerRanProveNothing) {
  BlockingServer server(1);
  TestClient client(server.address());
  server.Block(client.channel(), 2);
  ASSERT_TRUE(Eventually([&] { return (*server.runtime()).status().loops_taken_over >= 2; }));
  // They wait for a handler thread for longer than their clients do.
  std::vector<TestCall> late(20);  // more than are proof that a method is quick
  for (TestCall& call : late) {
    call.controller.set_timeout_ms(20);
    if (&call == &late.back()) ASSERT_TRUE(Idles(client.channel())) << "the others have come";
    call.Start(client.channel());
  }
  for (TestCall& call : late) {
    ASSERT_TRUE(call.Wait());
    EXPECT_EQ(call.controller.ErrorCode(), kRpcTimedOut);
  }
  server.Release();
  ASSERT_TRUE(server.AllEchoed());
  EXPECT_EQ(server.NameOfThread(client.channel()), "farcall-handler");
}

TEST(WhereHandlersRunTest, AMethodComesBackToTheLoopOnceItIsQuick) {
  BlockingServer server(2);
  TestClient client(server.address());
  server.Block(client.channel(), 4);
  // Both were caught.
  ASSERT_TRUE(Eventually([&] { return (*server.runtime()).status().loops_taken_over >= 2; }));
  server.Release();
  ASSERT_TRUE(server.AllEchoed());
  EXPECT_EQ(server.NameOfThread(client.channel()), "farcall-handler");
  // Sixteen in a row must be quick, also on a busy machine.
  EXPECT_TRUE(Eventually([&] { return server.NameOfThread(client.channel()) == "farcall-loop"; },
                         6 * kTestTimeout));
}

TEST(WhereHandlersRunTest, WithNoSpareThreadLeftTheLoopIsLateAndThatIsTold) {
  RuntimeOptions options = OneLoop();
  options.max_blocked_threads = 1;
  BlockingServer server(8, options);
  TestClient client(server.address());
  server.Block(client.channel(), 2);
  ASSERT_TRUE(server.AwaitEntered(2));
  EXPECT_TRUE(server.runtime().log().Wait("stands still: farcall.test.TestService.Echo"));
  EXPECT_TRUE(server.runtime().log().Wait("RuntimeOptions::max_blocked_threads"));
  EXPECT_EQ((*server.runtime()).status().loops_taken_over, 1u);
  server.Release();
  EXPECT_TRUE(server.AllEchoed());
  TestCall call;
  EXPECT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
}

TEST(WhereHandlersRunTest, StopWaitsForThoseOfAllKinds) {
  TestEvent entered;
  TestEvent release;
  std::atomic<int> answered{0};
  TestServer server([&](Controller& controller, const auto& request, auto& response, auto* done) {
    entered.Signal();
    EXPECT_TRUE(release.Wait());
    ++answered;
    EchoBack(controller, request, response, done);
  });
  TestClient client(server.address());
  std::vector<TestCall> calls(20);
  for (TestCall& call : calls) call.Start(client.channel());
  // On threads that lost their loop, on handler threads, and waiting for one.
  ASSERT_TRUE(entered.Wait(4));
  std::thread stopper([&] { EXPECT_TRUE(server.server().Stop(kTestTimeout).ok()); });
  release.Signal();
  stopper.join();
  for (TestCall& call : calls) {
    ASSERT_TRUE(call.Wait());
    EXPECT_TRUE(call.Echoed() || call.controller.ErrorCode() == kLogoff) << call.Error();
  }
  EXPECT_GE(answered, 4);
}

}  // namespace
}  // namespace farcall
