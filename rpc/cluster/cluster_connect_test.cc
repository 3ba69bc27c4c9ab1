// SPDX-License-Identifier: Apache-2.0
//
// What the connections of a channel to one server share of connecting to it.

#include <gtest/gtest.h>

#include <algorithm>

#include "rpc/cluster/cluster_testing.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

TEST(ClusterTest, CallsToADeadServerConnectOnceForAllAndThenPause) {
  for (const ConnectionType type : {CONNECTION_TYPE_POOLED, CONNECTION_TYPE_SHORT}) {
    SCOPED_TRACE(type);
    ClusterWorld world("192.0.2.1:80", OptionsOf(type));
    for (int i = 0; i < 4; ++i) world.Start();
    EXPECT_EQ(world.PendingConnects().size(), 4u) << "nothing is known against the server";
    world.FailConnects();
    for (int i = 0; i < 4; ++i) {
      const auto& in_pause = world.Start();
      world.world.Run();
      EXPECT_TRUE(world.PendingConnects().empty());
      EXPECT_EQ(in_pause.controller.ErrorCode(), kFailedSocket);
      EXPECT_EQ(in_pause.controller.ErrorText(), "refused");
    }
    for (const int pause_ms : {5, 10, 20}) {
      world.Advance(milliseconds(pause_ms));
      for (int i = 0; i < 4; ++i) world.Start();
      EXPECT_EQ(world.PendingConnects().size(), 1u) << pause_ms;
      world.FailConnects();
    }
    for (const auto& [id, call] : world.calls) EXPECT_EQ(call.ends, 1) << id;
  }
}

TEST(ClusterTest, CallsThatAwaitAnothersAttemptGoOutWhenItSucceeds) {
  for (const ConnectionType type : {CONNECTION_TYPE_POOLED, CONNECTION_TYPE_SHORT}) {
    SCOPED_TRACE(type);
    ClusterWorld world("192.0.2.1:80", OptionsOf(type));
    world.Start();
    world.FailConnects();
    world.Advance(milliseconds(5));
    for (int i = 0; i < 4; ++i) world.Start();
    ASSERT_EQ(world.PendingConnects().size(), 1u);
    world.Connect();
    EXPECT_EQ(world.wires.size(), 4u);
    const auto requests = world.Arrived();
    EXPECT_EQ(requests.size(), 4u);
    for (const ArrivedRequest& request : requests) world.AnswerOnAll(request);
    int failed = 0;
    for (const auto& [id, call] : world.calls) failed += call.controller.Failed() ? 1 : 0;
    EXPECT_EQ(failed, 1) << "the first";
  }
}

TEST(ClusterTest, AConnectionThatIsNotNeededAnyMoreIsNotMadeAfterTheOther) {
  for (const ConnectionType type : {CONNECTION_TYPE_POOLED, CONNECTION_TYPE_SHORT}) {
    SCOPED_TRACE(type);
    ChannelOptions options = OptionsOf(type);
    options.timeout_ms = 10;
    ClusterWorld world("192.0.2.1:80", options);
    world.Start();
    world.FailConnects();
    world.Advance(milliseconds(5));
    for (int i = 0; i < 4; ++i) world.Start();
    world.Advance(milliseconds(10));
    for (const auto& [id, call] : world.calls) EXPECT_EQ(call.ends, 1) << id;
    world.Connect();
    EXPECT_EQ(world.wires.size(), 1u);
    world.Start();
    world.Connect();
    world.AnswerOnAll(world.One());
  }
}

// A server that answers no SYN, and calls with less patience than connect_timeout_ms.
TEST(ClusterTest, AttemptsThatNoCallAwaitsAnyMoreCountAsConnections) {
  for (const ConnectionType type : {CONNECTION_TYPE_POOLED, CONNECTION_TYPE_SHORT}) {
    SCOPED_TRACE(type);
    ChannelOptions options = OptionsOf(type);
    options.max_connections_per_server = 2;
    options.timeout_ms = 5;
    ClusterWorld world("192.0.2.1:80", options);
    for (int i = 0; i < 10; ++i) {
      world.Start();
      world.Advance(milliseconds(5));
    }
    EXPECT_EQ(world.PendingConnects().size(), type == CONNECTION_TYPE_POOLED ? 1u : 2u);
    for (const auto& [id, call] : world.calls) EXPECT_EQ(call.ends, 1) << id;
    world.Connect();
    const auto& call = world.Start();
    world.Connect();
    world.AnswerOnAll(world.One());
    EXPECT_FALSE(call.controller.Failed()) << call.controller.ErrorText();
  }
}

// It is as old as the pause, and its failure would say nothing of now.
TEST(ClusterTest, NoCallWaitsForAnAttemptFromBeforeThePause) {
  for (const ConnectionType type : {CONNECTION_TYPE_POOLED, CONNECTION_TYPE_SHORT}) {
    SCOPED_TRACE(type);
    ClusterWorld world("192.0.2.1:80", OptionsOf(type));
    for (int i = 0; i < 3; ++i) world.Start();
    ASSERT_EQ(world.PendingConnects().size(), 3u);
    world.world.transport.Fail(absl::UnavailableError("timed out"));
    world.Advance(milliseconds(5));
    const auto& fresh = world.Start();
    EXPECT_EQ(world.PendingConnects().size(), 3u) << "two old ones and its own";
    world.world.transport.Fail(absl::UnavailableError("timed out"));
    world.world.Run();
    EXPECT_EQ(fresh.ends, 0) << fresh.controller.ErrorText();
    const auto& other = world.Start();
    EXPECT_EQ(world.PendingConnects().size(), 2u) << "it waits for the new one";
    world.Connect();
    for (const ArrivedRequest& request : world.Arrived()) world.AnswerOnAll(request);
    EXPECT_FALSE(fresh.controller.Failed()) << fresh.controller.ErrorText();
    EXPECT_FALSE(other.controller.Failed()) << other.controller.ErrorText();
  }
}

// Of two that began together one was lost.
TEST(ClusterTest, AnAttemptThatFailsAfterAnotherSucceededIsNoPause) {
  ClusterWorld world("192.0.2.1:80", OptionsOf(CONNECTION_TYPE_SHORT));
  for (int i = 0; i < 2; ++i) world.Start();
  std::swap(world.world.transport.attempts[0], world.world.transport.attempts[1]);
  world.wires.push_back({"192.0.2.1:80", world.world.transport.Succeed()});
  world.Advance(milliseconds(200));
  world.FailConnects();
  const auto& fresh = world.Start();
  EXPECT_EQ(fresh.ends, 0) << fresh.controller.ErrorText();
  EXPECT_EQ(world.PendingConnects().size(), 1u);
}

}  // namespace
}  // namespace farcall
