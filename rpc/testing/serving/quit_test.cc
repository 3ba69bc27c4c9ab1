// SPDX-License-Identifier: Apache-2.0
//
// What a server does when it is asked to quit by a signal.

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "rpc/runtime/run_until_asked_to_quit.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/kept_answers.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"

namespace farcall {
namespace {

bool IsCaught(int number) {
  struct sigaction now {};
  ::sigaction(number, nullptr, &now);
  return now.sa_handler != SIG_DFL;
}

bool IdleFails(Channel& channel) {
  Controller controller;
  test::Nothing request;
  test::Nothing response;
  test::TestService_Stub(&channel).Idle(&controller, &request, &response, nullptr);
  return controller.Failed();
}

std::future<absl::Status> RunUntilAsked(Server& server, Duration grace) {
  auto quit = std::async(std::launch::async,
                         [&server, grace] { return RunUntilAskedToQuit(server, grace); });
  EXPECT_TRUE(Eventually([] { return IsCaught(SIGTERM) && IsCaught(SIGINT); }));
  return quit;
}

TEST(QuitTest, EitherSignalStopsTheServer) {
  for (const int number : {SIGTERM, SIGINT}) {
    SCOPED_TRACE(number);
    TestServer server;
    TestClient client(server.address());
    ASSERT_TRUE(TestCall().Call(client.channel()).Echoed());
    auto quit = RunUntilAsked(server.server(), kTestTimeout);
    EXPECT_TRUE(TestCall().Call(client.channel()).Echoed()) << "it serves meanwhile";
    ::kill(::getpid(), number);
    EXPECT_TRUE(quit.get().ok());
    EXPECT_EQ(server.server().connection_count(), 0);
    EXPECT_FALSE(IsCaught(SIGTERM)) << "as before";
    EXPECT_FALSE(IsCaught(SIGINT));
  }
}

TEST(QuitTest, WhatRunsIsFinishedWithinTheGrace) {
  KeptAnswers kept;
  TestServer server(kept.Handler());
  TestClient client(server.address());
  TestCall call;
  call.Start(client.channel());
  ASSERT_TRUE(kept.Wait(1));
  auto quit = RunUntilAsked(server.server(), kTestTimeout);
  ::kill(::getpid(), SIGTERM);
  kept.RunAll();
  EXPECT_TRUE(quit.get().ok());
  ASSERT_TRUE(call.Wait());
  EXPECT_TRUE(call.Echoed()) << call.Error();
}

TEST(QuitTest, SaysWhatWasLeft) {
  KeptAnswers kept;
  TestServer server(kept.Handler());
  ChannelOptions once = Patient();
  once.max_retry = 0;
  TestClient client(server.address(), once);
  TestCall call;
  call.Start(client.channel());
  ASSERT_TRUE(kept.Wait(1));
  auto quit = RunUntilAsked(server.server(), std::chrono::milliseconds(10));
  ::kill(::getpid(), SIGTERM);
  EXPECT_TRUE(absl::IsDeadlineExceeded(quit.get()));
  kept.RunAll();
  ASSERT_TRUE(call.Wait());
}

TEST(QuitTest, OneAtATime) {
  TestServer server;
  auto quit = RunUntilAsked(server.server(), kTestTimeout);
  Server other;
  EXPECT_TRUE(absl::IsFailedPrecondition(RunUntilAskedToQuit(other)));
  ::kill(::getpid(), SIGINT);
  EXPECT_TRUE(quit.get().ok());
}

// In a process of its own, since that is what ends.
TEST(QuitDeathTest, ASecondSignalEndsTheProcessAtOnce) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        KeptAnswers kept;
        TestServer server(kept.Handler());
        TestClient client(server.address());
        TestCall call;
        call.Start(client.channel());
        if (!kept.Wait(1)) std::exit(1);
        auto quit = RunUntilAsked(server.server(), std::chrono::hours(1));
        ::kill(::getpid(), SIGTERM);
        if (!Eventually([&] { return IdleFails(client.channel()); })) std::exit(2);
        ::kill(::getpid(), SIGINT);
        static_cast<void>(quit.get());
        std::exit(3);
      },
      testing::ExitedWithCode(128 + SIGINT), "");
}

}  // namespace
}  // namespace farcall
