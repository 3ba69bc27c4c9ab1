// SPDX-License-Identifier: Apache-2.0
//
// Coroutines that call, and handlers that are coroutines, over real sockets.

#include <atomic>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/runtime/coroutine.h"
#include "rpc/testing/test_peers.h"
#include "transport/loop/loop_testing.h"

namespace farcall {
namespace {

using test::TestService_Stub;

// "ok MESSAGE", or "CODE TEXT".
Task<std::string> Echo(Channel& channel, std::string message) {
  TestService_Stub stub(&channel);
  Controller controller;
  test::EchoRequest request;
  test::EchoResponse response;
  request.set_message(message);
  if (!co_await CallAsync(stub, &TestService_Stub::Echo, &controller, &request, &response)) {
    co_return absl::StrCat(controller.ErrorCode(), " ", controller.ErrorText());
  }
  co_return absl::StrCat("ok ", response.message());
}

// How many of `calls` calls in a row succeeded.
Task<int> EchoOften(Channel& channel, int calls) {
  int well = 0;
  for (int i = 0; i < calls; ++i) {
    const std::string message = absl::StrCat("message ", i);
    if (co_await Echo(channel, message) == "ok " + message) ++well;
  }
  co_return well;
}

TEST(CoroutineCallsTest, ACallIsAwaited) {
  TestServer server;
  TestClient client(server.address());
  EXPECT_EQ(SyncWait(Echo(client.channel(), "hello")), "ok hello");
}

TEST(CoroutineCallsTest, AFailedCallIsFalseAndTheControllerTellsWhy) {
  TestServer server([](Controller& controller, const auto&, auto&, auto* done) {
    controller.SetFailed(77, "no echo today");
    done->Run();
  });
  TestClient client(server.address());
  EXPECT_EQ(SyncWait(Echo(client.channel(), "hello")), "77 no echo today");
}

TEST(CoroutineCallsTest, CallsFollowOneAnotherAndRunSideBySide) {
  TestServer server;
  TestClient client(server.address());
  std::vector<Task<int>> tasks;
  for (int i = 0; i < 20; ++i) tasks.push_back(EchoOften(client.channel(), 50));
  for (const int well : SyncWait(WhenAll(std::move(tasks)))) EXPECT_EQ(well, 50);
}

TEST(CoroutineCallsTest, ACancelledCallLetsItsCoroutineGoOn) {
  TestEvent arrived;
  std::atomic<google::protobuf::Closure*> kept{nullptr};
  TestServer server([&](Controller&, const auto&, auto& response, auto* done) {
    response.set_message("too late");
    kept = done;
    arrived.Signal();
  });
  TestClient client(server.address());
  Controller controller;
  const auto body = [&]() -> Task<bool> {
    TestService_Stub stub(&client.channel());
    test::EchoRequest request;
    test::EchoResponse response;
    request.set_message("hello");
    co_return co_await CallAsync(stub, &TestService_Stub::Echo, &controller, &request, &response);
  };
  std::thread canceller([&] {
    EXPECT_TRUE(arrived.Wait());
    controller.StartCancel();
  });
  EXPECT_FALSE(SyncWait(body()));
  canceller.join();
  EXPECT_EQ(controller.ErrorCode(), ECANCELED);
  kept.load()->Run();
}

TEST(CoroutineCallsTest, ACoroutineMayBlockWhereItWasResumed) {
  TestServer server;
  TestClient client(server.address());  // one loop, so that a stall would be seen
  const auto body = [&]() -> Task<std::string> {
    co_await Echo(client.channel(), "first");
    // Now on a thread that runs closures.
    co_return SyncWait(Echo(client.channel(), "second"));
  };
  EXPECT_EQ(SyncWait(body()), "ok second");
}

TEST(CoroutineHandlerTest, AnswersWhenItsTaskHasEnded) {
  TestServer backend;
  TestClient to_backend(backend.address());
  const auto forward = [&](const test::EchoRequest& request,
                           test::EchoResponse& response) -> Task<> {
    const std::string first = co_await Echo(to_backend.channel(), request.message());
    response.set_message(co_await Echo(to_backend.channel(), first));
  };
  TestServer server([&](Controller& controller, const auto& request, auto& response, auto* done) {
    RunHandler(&controller, done, forward(request, response));
  });
  TestClient client(server.address());
  EXPECT_EQ(SyncWait(Echo(client.channel(), "x")), "ok ok ok x");
  EXPECT_EQ(backend.service().runs(), 2);
}

TEST(CoroutineHandlerTest, AnExceptionFailsTheCall) {
  TestServer backend;
  TestClient to_backend(backend.address());
  const auto broken = [&](bool wait) -> Task<> {
    if (wait) co_await Echo(to_backend.channel(), "");
    throw std::runtime_error("the store is gone");
  };
  TestServer server([&](Controller& controller, const auto& request, auto&, auto* done) {
    RunHandler(&controller, done, broken(request.message() == "wait"));
  });
  TestClient client(server.address());
  for (const char* message : {"at once", "wait"}) {
    EXPECT_EQ(SyncWait(Echo(client.channel(), message)),
              absl::StrCat(int{kInternal}, " exception: the store is gone"));
  }
}

TEST(CoroutineHandlerTest, WhatItsTaskWasGivenLivesUntilItEnds) {
  TestServer server([](Controller& controller, const auto& request, auto& response, auto* done) {
    RunHandler(&controller, done,
               [](const test::EchoRequest& asked, test::EchoResponse& answer,
                  std::string prefix) -> Task<> {
                 answer.set_message(prefix + asked.message());
                 co_return;
               }(request, response, std::string(1000, '-')));
  });
  TestClient client(server.address());
  EXPECT_EQ(SyncWait(Echo(client.channel(), "x")), "ok " + std::string(1000, '-') + "x");
}

TEST(CoroutineSleepTest, GoesOnNotEarlier) {
  TestRuntime runtime;
  const auto body = [&](Duration time) -> Task<> { co_await SleepFor(*runtime, time); };
  const auto before = std::chrono::steady_clock::now();
  SyncWait(body(std::chrono::milliseconds(20)));
  EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(20));
  SyncWait(body(Duration::zero()));
  SyncWait(body(-std::chrono::hours(1)));
}

TEST(CoroutineSleepTest, ManySleepSideBySide) {
  TestRuntime runtime;
  const auto body = [&](int i) -> Task<int> {
    co_await SleepFor(*runtime, std::chrono::microseconds(100 * (i % 7)));
    co_return i;
  };
  std::vector<Task<int>> tasks;
  for (int i = 0; i < 200; ++i) tasks.push_back(body(i));
  int64_t sum = 0;
  for (const int i : SyncWait(WhenAll(std::move(tasks)))) sum += i;
  EXPECT_EQ(sum, 199 * 200 / 2);
}

}  // namespace
}  // namespace farcall
