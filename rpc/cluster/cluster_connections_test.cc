// SPDX-License-Identifier: Apache-2.0
//
// Pooled and short connections of a channel: how many there are, and how long.

#include <gtest/gtest.h>

#include <algorithm>

#include "rpc/cluster/cluster_testing.h"
#include "rpc/cluster/server_connections.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(ClusterTest, PooledConnectionsCarryOneCallAtATimeAndAreKept) {
  ChannelOptions options;
  options.connection_type = CONNECTION_TYPE_POOLED;
  ClusterWorld world("192.0.2.1:80", options);
  world.Start();
  world.Start();
  EXPECT_EQ(world.PendingConnects().size(), 2u);
  world.Connect();
  for (const ArrivedRequest& request : world.Arrived()) {
    world.AnswerOnAll(request);
  }
  for (const auto& [id, call] : world.calls) EXPECT_EQ(call.ends, 1) << id;
  world.Start();
  world.Start();
  EXPECT_TRUE(world.PendingConnects().empty()) << "both connections were idle";
  EXPECT_EQ(world.Arrived().size(), 2u);
}

TEST(ClusterTest, PooledConnectionsHaveALimit) {
  ChannelOptions options;
  options.connection_type = CONNECTION_TYPE_POOLED;
  options.max_connections_per_server = 2;
  options.max_retry = 0;
  ClusterWorld world("192.0.2.1:80", options);
  world.Start();
  world.Start();
  const auto& third = world.Start();
  world.world.Run();
  EXPECT_EQ(third.controller.ErrorCode(), kOvercrowded);
  EXPECT_NE(third.controller.ErrorText().find("max_connections_per_server"), std::string::npos);
}

TEST(ClusterTest, APooledConnectionWhoseAnswerIsStillOwedIsNotUsedAgain) {
  ChannelOptions options;
  options.connection_type = CONNECTION_TYPE_POOLED;
  options.timeout_ms = 20;
  ClusterWorld world("192.0.2.1:80", options);
  const auto& late = world.Start();
  world.Connect();
  world.Advance(milliseconds(20));
  EXPECT_EQ(late.controller.ErrorCode(), kRpcTimedOut);
  world.Start();
  EXPECT_EQ(world.PendingConnects().size(), 1u);
}

TEST(ClusterTest, AShortConnectionEndsWithItsCall) {
  ChannelOptions options;
  options.connection_type = CONNECTION_TYPE_SHORT;
  ClusterWorld world("192.0.2.1:80", options);
  for (int i = 0; i < 3; ++i) {
    const auto& call = world.Start();
    ASSERT_EQ(world.PendingConnects().size(), 1u);
    world.Connect();
    world.Answer(world.One());
    EXPECT_FALSE(call.controller.Failed());
    EXPECT_TRUE(world.wires.back().end->destroyed);
  }
}

TEST(ClusterTest, AShortConnectionTakesThePlaceOfAnIdleOne) {
  ChannelOptions options;
  options.connection_type = CONNECTION_TYPE_POOLED;
  options.max_connections_per_server = 1;
  ClusterWorld world("192.0.2.1:80", options);
  world.Start();
  world.Connect();
  world.Answer(world.One());
  RoutedCall::Plan plan = world.Plan();
  plan.connection_type = CONNECTION_TYPE_SHORT;
  const auto& call = world.Start(plan);
  world.Connect();
  world.Answer(world.One());
  EXPECT_FALSE(call.controller.Failed()) << call.controller.ErrorText();
}

TEST(ClusterTest, WhereOneServerHasNoConnectionToSpareAnotherIsAsked) {
  ChannelOptions options;
  options.connection_type = CONNECTION_TYPE_POOLED;
  options.max_connections_per_server = 1;
  options.max_retry = 0;
  ClusterWorld world(kThree, options);
  for (int i = 0; i < 3; ++i) world.Start();
  EXPECT_EQ(world.PendingConnects().size(), 3u);
  const auto& fourth = world.Start();
  world.world.Run();
  EXPECT_EQ(fourth.controller.ErrorCode(), kOvercrowded);
}

TEST(ClusterTest, PooledConnectionsThatNobodyUsesAreClosed) {
  ClusterWorld world("192.0.2.1:80", OptionsOf(CONNECTION_TYPE_POOLED));
  for (int i = 0; i < 5; ++i) world.Start();
  world.Connect();
  for (const ArrivedRequest& request : world.Arrived()) world.AnswerOnAll(request);
  const auto open = [&] {
    return std::count_if(world.wires.begin(), world.wires.end(),
                         [](const auto& wire) { return !wire.end->destroyed; });
  };
  world.Advance(seconds(20));
  EXPECT_EQ(open(), 5);
  world.Start();
  world.AnswerOnAll(world.One());
  world.Advance(seconds(10));
  EXPECT_EQ(open(), 1) << "the one that was used";
  world.Advance(milliseconds(19'999));
  EXPECT_EQ(open(), 1);
  world.Advance(milliseconds(1));
  EXPECT_EQ(open(), 0);
  EXPECT_EQ(world.world.loop->NextTimer(), std::nullopt);
}

TEST(ClusterTest, PooledConnectionsStayWhereThereIsNoIdleTimeout) {
  ChannelOptions options = OptionsOf(CONNECTION_TYPE_POOLED);
  options.pooled_idle_timeout_ms = -1;
  ClusterWorld world("192.0.2.1:80", options);
  world.Start();
  world.Connect();
  world.AnswerOnAll(world.One());
  world.Advance(std::chrono::hours(1));
  EXPECT_FALSE(world.wires[0].end->destroyed);
}

// The others are not connected yet, or broke while they were idle: a call there would wait.
TEST(ClusterTest, TheWarmestConnectionThatLivesIsTakenFirst) {
  for (const bool connecting : {true, false}) {
    SCOPED_TRACE(connecting);
    ClusterWorld world("192.0.2.1:80", OptionsOf(CONNECTION_TYPE_POOLED));
    world.Start();
    if (!connecting) world.Start();
    world.Connect();
    RoutedCall::Plan hasty = world.Plan();
    hasty.deadline = world.world.clock.Now() + milliseconds(20);
    if (connecting) world.Start(hasty);
    for (const ArrivedRequest& request : world.Arrived()) world.AnswerOnAll(request);
    world.Advance(milliseconds(20));
    if (!connecting) world.wires[1].end->End(absl::UnavailableError("closed by peer"));
    world.world.Run();
    const size_t connects = world.PendingConnects().size();
    world.Start();
    EXPECT_EQ(world.PendingConnects().size(), connects);
    EXPECT_EQ(world.wires[0].end->TakeFrames().size(), 1u);
  }
}

TEST(ClusterTest, ACallThatComesTooLateLeavesItsPooledConnectionOpen) {
  ClusterWorld world("192.0.2.1:80", OptionsOf(CONNECTION_TYPE_POOLED));
  world.Start();
  world.Connect();
  world.AnswerOnAll(world.One());
  RoutedCall::Plan late = world.Plan();
  late.deadline = world.world.clock.Now();
  const auto& call = world.Start(late);
  world.world.Run();
  EXPECT_EQ(call.controller.ErrorCode(), kRpcTimedOut);
  EXPECT_FALSE(world.wires[0].end->destroyed) << "nothing was sent on it";
  world.Start();
  EXPECT_TRUE(world.PendingConnects().empty());
}

// It has no connection that the next call could use.
TEST(ClusterTest, ACallThatComesTooLateTakesNoPlaceOfAConnection) {
  ChannelOptions options = OptionsOf(CONNECTION_TYPE_POOLED);
  options.max_connections_per_server = 1;
  ClusterWorld world("192.0.2.1:80", options);
  RoutedCall::Plan late = world.Plan();
  late.deadline = world.world.clock.Now();
  world.Start(late);
  world.world.Run();
  EXPECT_EQ(world.sessions.count(), 1) << "the cluster";
}

}  // namespace
}  // namespace farcall
