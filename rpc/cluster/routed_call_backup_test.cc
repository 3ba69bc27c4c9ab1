// SPDX-License-Identifier: Apache-2.0
//
// Backup requests, step by step.

#include <gtest/gtest.h>

#include "rpc/cluster/cluster_testing.h"
#include "rpc/retry_policy.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

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
    EXPECT_TRUE(world.PendingConnects().empty());
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
    EXPECT_EQ(call.ends, 1) << "the late answer is dropped";
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
  EXPECT_TRUE(world.PendingConnects().empty());
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

TEST(RoutedCallTest, ARetryAfterAPauseHasABackupRequestToo) {
  ChannelOptions options;
  options.backup_request_ms = 20;
  ClusterWorld world("192.0.2.1:80", options);
  const auto& call = world.Start();
  world.FailConnects();
  world.Advance(milliseconds(10));
  world.Connect();
  const ArrivedRequest retry = world.One();
  world.Advance(milliseconds(19));
  EXPECT_TRUE(world.Arrived().empty());
  world.Advance(milliseconds(1));
  const ArrivedRequest backup = world.One();
  EXPECT_NE(backup.id, retry.id);
  world.Answer(backup);
  EXPECT_EQ(call.ends, 1);
  EXPECT_FALSE(call.controller.Failed()) << call.controller.ErrorText();
  EXPECT_EQ(call.controller.retried_count(), 1);
  EXPECT_TRUE(call.controller.has_backup_request());
}

TEST(RoutedCallTest, ABackupRequestThatIsNotSentTakesNothingOfTheBudget) {
  ChannelOptions options;
  options.connection_type = CONNECTION_TYPE_POOLED;
  options.max_connections_per_server = 12;
  options.retry_budget = 0;
  options.backup_request_ms = 1;
  ClusterWorld world("192.0.2.1:80", options);
  for (int i = 0; i < 12; ++i) world.Start();
  world.Connect();
  world.Advance(milliseconds(1));
  EXPECT_TRUE(world.PendingConnects().empty()) << "all connections are in use";
  const auto requests = world.Arrived();
  ASSERT_EQ(requests.size(), 12u);
  world.AnswerOnAll(requests[0], kLimit);
  const auto& call = world.calls.at(requests[0].id);
  EXPECT_EQ(call.ends, 0) << "a retry is due: " << call.controller.ErrorText();
}

}  // namespace
}  // namespace farcall
