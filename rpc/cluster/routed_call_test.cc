// SPDX-License-Identifier: Apache-2.0
//
// Retries, backup requests and cancellation, step by step.

#include "rpc/cluster/routed_call.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "absl/strings/match.h"
#include "rpc/cluster/cluster_testing.h"
#include "rpc/retry_policy.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

constexpr char kTwo[] = "list://192.0.2.1:80,192.0.2.2:80";

std::string OtherOf(const std::string& server) {
  return server == "192.0.2.1:80" ? "192.0.2.2:80" : "192.0.2.1:80";
}

TEST(RoutedCallTest, AnAnswerEndsTheCallAfterOneAttempt) {
  ClusterWorld world(kTwo);
  const auto& call = world.Start();
  world.Connect();
  world.Answer(world.One());
  EXPECT_EQ(call.ends, 1);
  EXPECT_FALSE(call.controller.Failed()) << call.controller.ErrorText();
  EXPECT_EQ(call.controller.retried_count(), 0);
}

TEST(RoutedCallTest, AServerThatCannotBeReachedSendsTheCallToAnotherAtOnce) {
  ClusterWorld world(kTwo);
  const auto& call = world.Start();
  ASSERT_EQ(world.Dialled().size(), 1u);
  const std::string dead = world.Dialled().front();
  world.FailConnects();
  const std::vector<std::string> next = world.Dialled();
  ASSERT_NE(std::find(next.begin(), next.end(), OtherOf(dead)), next.end());
  world.Connect();
  world.Answer(world.One());
  EXPECT_FALSE(call.controller.Failed()) << call.controller.ErrorText();
  EXPECT_EQ(call.controller.retried_count(), 1);
}

// The second request is the first one but for what belongs to an attempt.
TEST(RoutedCallTest, ABrokenConnectionSendsTheSameRequestAgainWithTheTimeThatIsLeft) {
  ClusterWorld world(kTwo);
  const auto& call = world.Start();
  world.Connect();
  const ArrivedRequest first = world.One();
  world.Advance(milliseconds(100));
  world.Break(first.server);
  world.Connect();
  const ArrivedRequest second = world.One();
  EXPECT_EQ(second.server, OtherOf(first.server));
  EXPECT_EQ(second.payload, first.payload);
  EXPECT_NE(second.id, first.id);
  EXPECT_EQ(second.timeout_ms, 400);
  world.Answer(second);
  EXPECT_FALSE(call.controller.Failed()) << call.controller.ErrorText();
}

TEST(RoutedCallTest, WhatMayHaveRunIsNotSentAgainWhereThePolicyForbidsIt) {
  ChannelOptions options;
  options.retry_policy = RetryPolicy::OnlyIfNotRun();
  ClusterWorld world(kTwo, options);
  const auto& call = world.Start();
  world.Connect();
  world.Break(world.One().server);
  EXPECT_EQ(call.ends, 1);
  EXPECT_EQ(call.controller.ErrorCode(), kFailedSocket);
  EXPECT_EQ(call.controller.retried_count(), 0);
}

TEST(RoutedCallTest, ARefusalIsSentElsewhereEvenThen) {
  for (const int code : {kLogoff, kLimit}) {
    SCOPED_TRACE(code);
    ChannelOptions options;
    options.retry_policy = RetryPolicy::OnlyIfNotRun();
    ClusterWorld world(kTwo, options);
    const auto& call = world.Start();
    world.Connect();
    const ArrivedRequest first = world.One();
    world.Answer(first, code, "not now");
    world.Connect();
    const ArrivedRequest second = world.One();
    EXPECT_EQ(second.server, OtherOf(first.server));
    world.Answer(second);
    EXPECT_FALSE(call.controller.Failed()) << call.controller.ErrorText();
  }
}

TEST(RoutedCallTest, AnErrorOfTheServicesOwnIsAnAnswer) {
  ClusterWorld world(kTwo);
  const auto& call = world.Start();
  world.Connect();
  world.Answer(world.One(), 777, "no such key");
  EXPECT_EQ(call.ends, 1);
  EXPECT_EQ(call.controller.ErrorCode(), 777);
  EXPECT_EQ(call.controller.retried_count(), 0);
}

// The same server is given a moment, which doubles.
TEST(RoutedCallTest, ASingleServerIsTriedAgainAfterAPause) {
  ClusterWorld world("192.0.2.1:80");
  const auto& call = world.Start();
  for (int retry = 0; retry < 3; ++retry) {
    world.FailConnects();
    EXPECT_TRUE(world.Dialled().empty()) << retry;
    EXPECT_EQ(call.ends, 0);
    world.Advance(milliseconds(5));
    EXPECT_TRUE(world.Dialled().empty()) << "not so soon";
    world.Advance(milliseconds(10 << retry));
    ASSERT_EQ(world.Dialled().size(), 1u) << retry;
  }
  world.Connect();
  world.Answer(world.One());
  EXPECT_FALSE(call.controller.Failed()) << call.controller.ErrorText();
  EXPECT_EQ(call.controller.retried_count(), 3);
}

TEST(RoutedCallTest, MaxRetryBoundsTheAttempts) {
  ChannelOptions options;
  options.max_retry = 2;
  ClusterWorld world(kTwo, options);
  const auto& call = world.Start();
  int attempts = 0;
  for (int step = 0; step < 20 && call.ends == 0; ++step) {
    attempts += static_cast<int>(world.Dialled().size());
    world.FailConnects();
    world.Advance(milliseconds(10));
  }
  EXPECT_EQ(call.ends, 1);
  EXPECT_EQ(call.controller.ErrorCode(), kFailedSocket);
  EXPECT_EQ(call.controller.ErrorText(), "refused");
  EXPECT_EQ(call.controller.retried_count(), 2);
}

TEST(RoutedCallTest, TheDeadlineIsOneForAllAttempts) {
  ClusterWorld world("192.0.2.1:80");
  const auto& call = world.Start();
  world.FailConnects();
  world.Advance(milliseconds(20));
  ASSERT_EQ(world.Dialled().size(), 1u);
  world.Advance(milliseconds(479));
  EXPECT_EQ(call.ends, 0);
  world.Advance(milliseconds(1));
  EXPECT_EQ(call.ends, 1);
  EXPECT_EQ(call.controller.ErrorCode(), kRpcTimedOut);
}

TEST(RoutedCallTest, ARetryThatWouldComeTooLateIsNotWaitedFor) {
  ChannelOptions options;
  options.timeout_ms = 5;
  ClusterWorld world("192.0.2.1:80", options);
  const auto& call = world.Start();
  world.FailConnects();
  EXPECT_EQ(call.ends, 1) << "with the error that there is, not with a timeout later";
  EXPECT_EQ(call.controller.ErrorText(), "refused");
}

TEST(RoutedCallTest, TheBudgetKeepsAFailingServiceFromBeingDrowned) {
  ChannelOptions options;
  options.retry_budget = 0.1;
  options.timeout_ms = 10'000;
  ClusterWorld world("192.0.2.1:80", options);
  for (int i = 0; i < 200; ++i) world.Start();
  for (int step = 0; step < 200; ++step) {
    world.FailConnects();
    world.Advance(milliseconds(1));
  }
  int retried = 0;
  int denied = 0;
  for (const auto& [id, call] : world.calls) {
    EXPECT_EQ(call.ends, 1);
    retried += call.controller.retried_count();
    denied += absl::StrContains(call.controller.ErrorText(), "retry_budget is used up") ? 1 : 0;
  }
  EXPECT_LE(retried, 30) << "a tenth of the calls, and ten for nothing";
  EXPECT_GT(retried, 0);
  EXPECT_GT(denied, 100);
}

TEST(RoutedCallTest, ABackupRequestGoesToAnotherServerAndTheFirstAnswerCounts) {
  for (const bool backup_wins : {true, false}) {
    SCOPED_TRACE(backup_wins);
    ChannelOptions options;
    options.backup_request_ms = 10;
    ClusterWorld world(kTwo, options);
    const auto& call = world.Start();
    world.Connect();
    const ArrivedRequest first = world.One();
    world.Advance(milliseconds(9));
    EXPECT_TRUE(world.Dialled().empty());
    world.Advance(milliseconds(1));
    world.Connect();
    const ArrivedRequest second = world.One();
    EXPECT_EQ(second.server, OtherOf(first.server));
    world.Answer(backup_wins ? second : first);
    EXPECT_EQ(call.ends, 1);
    EXPECT_FALSE(call.controller.Failed());
    EXPECT_TRUE(call.controller.has_backup_request());
    EXPECT_EQ(call.controller.retried_count(), 0);
    world.Answer(backup_wins ? first : second);
    EXPECT_EQ(call.ends, 1) << "the late answer finds nobody";
  }
}

// Either of the two may have run, whichever fails last.
TEST(RoutedCallTest, WhatMayHaveRunOnceIsNotForgottenWhenTheOtherIsRefused) {
  ChannelOptions options;
  options.backup_request_ms = 10;
  options.retry_policy = RetryPolicy::OnlyIfNotRun();
  ClusterWorld world(kTwo, options);
  const auto& call = world.Start();
  world.Connect();
  const ArrivedRequest first = world.One();
  world.Advance(milliseconds(10));
  world.Connect();
  const ArrivedRequest second = world.One();
  world.Break(first.server);
  world.Answer(second, kLimit, "full");
  EXPECT_EQ(call.ends, 1);
  EXPECT_EQ(call.controller.ErrorCode(), kLimit);
  EXPECT_EQ(call.controller.retried_count(), 0);
}

TEST(RoutedCallTest, AnAnswerInTimeSendsNoBackupRequest) {
  ChannelOptions options;
  options.backup_request_ms = 10;
  ClusterWorld world(kTwo, options);
  const auto& call = world.Start();
  world.Connect();
  world.Answer(world.One());
  world.Advance(milliseconds(50));
  EXPECT_TRUE(world.Arrived().empty());
  EXPECT_TRUE(world.Dialled().empty());
  EXPECT_FALSE(call.controller.has_backup_request());
}

TEST(RoutedCallTest, WhileOneOfTwoRequestsRunsTheOthersFailureIsNotTold) {
  ChannelOptions options;
  options.backup_request_ms = 10;
  ClusterWorld world(kTwo, options);
  const auto& call = world.Start();
  world.Connect();
  const ArrivedRequest first = world.One();
  world.Advance(milliseconds(10));
  world.Connect();
  const ArrivedRequest second = world.One();
  world.Break(first.server);
  EXPECT_EQ(call.ends, 0);
  world.Answer(second);
  EXPECT_EQ(call.ends, 1);
  EXPECT_FALSE(call.controller.Failed()) << call.controller.ErrorText();
}

TEST(RoutedCallTest, ABackupRequestToTheSameServerIsARequestOfItsOwn) {
  ChannelOptions options;
  options.backup_request_ms = 10;
  ClusterWorld world("192.0.2.1:80", options);
  const auto& call = world.Start();
  world.Connect();
  const ArrivedRequest first = world.One();
  world.Advance(milliseconds(10));
  const ArrivedRequest second = world.One();
  EXPECT_NE(second.id, first.id);
  // Both end with the connection, and the call once.
  world.Break(first.server);
  world.Advance(milliseconds(600));
  EXPECT_EQ(call.ends, 1);
}

TEST(RoutedCallTest, CancelEndsACallWhereverItIs) {
  for (const int where : {0, 1, 2, 3}) {
    SCOPED_TRACE(where);
    ChannelOptions options;
    options.backup_request_ms = where == 3 ? 10 : -1;
    ClusterWorld world("192.0.2.1:80", options);
    auto& call = world.Start();
    if (where == 1) world.FailConnects();  // in the pause before a retry
    if (where >= 2) world.Connect();
    if (where == 3) world.Advance(milliseconds(10));
    call.controller.StartCancel();
    world.world.Run();
    EXPECT_EQ(call.ends, 1);
    EXPECT_EQ(call.controller.ErrorCode(), ECANCELED);
    world.Advance(milliseconds(1000));
    EXPECT_EQ(call.ends, 1);
  }
}

TEST(RoutedCallTest, ACancellationThatComesBeforeTheCallIsNotLost) {
  ClusterWorld world("192.0.2.1:80");
  ClusterWorld::Call* call = nullptr;
  // While the loop is held, the call waits in the mailbox.
  world.world.loop->RunOrPost([&] { call = &world.calls[1]; });
  auto& started = world.Start();
  started.controller.StartCancel();
  world.world.Run();
  EXPECT_EQ(started.ends, 1);
  EXPECT_EQ(started.controller.ErrorCode(), ECANCELED);
}

}  // namespace
}  // namespace farcall
