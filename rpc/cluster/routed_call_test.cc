// SPDX-License-Identifier: Apache-2.0
//
// Attempts of a call and their retries, step by step.

#include "rpc/cluster/routed_call.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "rpc/cluster/cluster_testing.h"
#include "rpc/retry_policy.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

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
  ASSERT_EQ(world.PendingConnects().size(), 1u);
  const std::string dead = world.PendingConnects().front();
  world.FailConnects();
  const std::vector<std::string> next = world.PendingConnects();
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

// The same server is given a moment, which doubles.
TEST(RoutedCallTest, ASingleServerIsTriedAgainAfterAPause) {
  ClusterWorld world("192.0.2.1:80");
  const auto& call = world.Start();
  for (int retry = 0; retry < 3; ++retry) {
    world.FailConnects();
    EXPECT_TRUE(world.PendingConnects().empty()) << retry;
    EXPECT_EQ(call.ends, 0);
    world.Advance(milliseconds(5));
    EXPECT_TRUE(world.PendingConnects().empty()) << "not so soon";
    world.Advance(milliseconds(10 << retry));
    ASSERT_EQ(world.PendingConnects().size(), 1u) << retry;
  }
  world.Connect();
  world.Answer(world.One());
  EXPECT_FALSE(call.controller.Failed()) << call.controller.ErrorText();
  EXPECT_EQ(call.controller.retried_count(), 3);
}

// Servers that are down are none to go to at once.
TEST(RoutedCallTest, TheOnlyServerThatLivesIsAskedAgainAfterAPause) {
  ChannelOptions options;
  options.timeout_ms = 10'000;
  ClusterWorld world(kThree, options);
  for (int i = 0; i < 3; ++i) world.Start();
  world.ConnectOnlyTo("192.0.2.1:80");
  for (int i = 0; i < 5; ++i) {
    world.Advance(milliseconds(500));
    world.FailConnects();
    for (const ArrivedRequest& request : world.Arrived()) world.AnswerOnAll(request);
  }
  for (const size_t server : {1, 2}) {
    ASSERT_EQ(world.View(server).state, ServerSet::View::State::kDown);
  }
  const auto& call = world.Start();
  world.AnswerOnAll(world.One(), kLimit);
  EXPECT_TRUE(world.Arrived().empty()) << "not at the same moment";
  EXPECT_EQ(call.ends, 0);
  world.Advance(milliseconds(10));
  world.AnswerOnAll(world.One());
  EXPECT_FALSE(call.controller.Failed()) << call.controller.ErrorText();
}

TEST(RoutedCallTest, MaxRetryBoundsTheAttempts) {
  ChannelOptions options;
  options.max_retry = 2;
  ClusterWorld world(kTwo, options);
  const auto& call = world.Start();
  for (int step = 0; step < 20 && call.ends == 0; ++step) {
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
  ASSERT_EQ(world.PendingConnects().size(), 1u);
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

TEST(RoutedCallTest, ARetryThatIsNotSentTakesNothingOfTheBudget) {
  ChannelOptions options;
  options.retry_budget = 0;
  ClusterWorld world("192.0.2.1:80", options);
  RoutedCall::Plan hasty = world.Plan();
  hasty.deadline = world.world.clock.Now() + milliseconds(5);
  for (int i = 0; i < 20; ++i) world.Start(hasty);
  world.FailConnects();
  for (const auto& [id, call] : world.calls) EXPECT_EQ(call.ends, 1) << id;
  world.Advance(milliseconds(5));
  const auto& patient = world.Start();
  world.FailConnects();
  EXPECT_EQ(patient.ends, 0) << patient.controller.ErrorText();
  world.Advance(milliseconds(20));
  world.Connect();
  world.Answer(world.One());
  EXPECT_FALSE(patient.controller.Failed()) << patient.controller.ErrorText();
}

}  // namespace
}  // namespace farcall
