// SPDX-License-Identifier: Apache-2.0
//
// Servers and connections of a channel: how they are shared, lost, left and found again.

#include "rpc/cluster/cluster.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <set>

#include "rpc/cluster/cluster_testing.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kThree[] = "list://192.0.2.1:80,192.0.2.2:80,192.0.2.3:80";

TEST(ClusterTest, CallsAreSpreadOverTheServersWithOneConnectionEach) {
  ClusterWorld world(kThree);
  for (int i = 0; i < 9; ++i) world.Start();
  EXPECT_EQ(world.Dialled().size(), 3u);
  world.Connect();
  std::map<std::string, int> by_server;
  for (const ArrivedRequest& request : world.Arrived()) {
    ++by_server[request.server];
    world.Answer(request);
  }
  EXPECT_EQ(by_server.size(), 3u);
  for (const auto& [server, requests] : by_server) EXPECT_EQ(requests, 3) << server;
  for (const auto& [id, call] : world.calls) EXPECT_FALSE(call.controller.Failed()) << id;
}

TEST(ClusterTest, AnEmptyListHasNoServer) {
  ChannelOptions options;
  options.max_retry = 0;
  ClusterWorld world("file:///nonexistent/servers", options);
  const auto& call = world.Start();
  world.world.RunBlocking();
  world.world.Run();
  EXPECT_EQ(call.ends, 1);
  EXPECT_EQ(call.controller.ErrorCode(), EHOSTDOWN);
  EXPECT_NE(call.controller.ErrorText().find("/nonexistent/servers"), std::string::npos)
      << call.controller.ErrorText();
}

TEST(ClusterTest, PooledConnectionsCarryOneCallAtATimeAndAreKept) {
  ChannelOptions options;
  options.connection_type = CONNECTION_TYPE_POOLED;
  ClusterWorld world("192.0.2.1:80", options);
  world.Start();
  world.Start();
  EXPECT_EQ(world.Dialled().size(), 2u);
  world.Connect();
  for (const ArrivedRequest& request : world.Arrived()) {
    // Each is answered on the connection that it came by.
    for (const auto& wire : world.wires) {
      wire::RpcMeta meta;
      meta.mutable_response();
      meta.set_correlation_id(static_cast<int64_t>(request.id));
      const auto encoder = FrameEncoder::Create(meta, nullptr, 0);
      std::string frame(encoder->head_size(), '\0');
      encoder->WriteTo(frame.data());
      wire.end->Deliver(frame);
    }
  }
  world.world.Run();
  for (const auto& [id, call] : world.calls) EXPECT_EQ(call.ends, 1) << id;
  world.Start();
  world.Start();
  EXPECT_TRUE(world.Dialled().empty()) << "both connections were idle";
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
  EXPECT_EQ(world.Dialled().size(), 1u);
}

TEST(ClusterTest, AShortConnectionEndsWithItsCall) {
  ChannelOptions options;
  options.connection_type = CONNECTION_TYPE_SHORT;
  ClusterWorld world("192.0.2.1:80", options);
  for (int i = 0; i < 3; ++i) {
    const auto& call = world.Start();
    ASSERT_EQ(world.Dialled().size(), 1u);
    world.Connect();
    world.Answer(world.One());
    EXPECT_FALSE(call.controller.Failed());
    EXPECT_TRUE(world.wires.back().end->destroyed);
  }
}

// What was sent before is still answered there; what comes next needs a server that stays, or
// behind a Service another one.
TEST(ClusterTest, AServerThatLogsOffGetsNoNewCallOnThatConnection) {
  ClusterWorld world("192.0.2.1:80");
  const auto& early = world.Start();
  const auto& refused = world.Start();
  world.Connect();
  const auto requests = world.Arrived();
  ASSERT_EQ(requests.size(), 2u);
  world.Answer(requests[1], kLogoff, "the server is stopping");
  world.Advance(milliseconds(20));
  ASSERT_EQ(world.Dialled().size(), 1u) << "a new connection";
  const auto old = world.wires;
  EXPECT_FALSE(old[0].end->destroyed);
  world.Answer(requests[0]);
  EXPECT_EQ(early.ends, 1);
  EXPECT_FALSE(early.controller.Failed());
  EXPECT_TRUE(old[0].end->destroyed) << "it is let go when its last call has ended";
  world.Connect();
  world.Answer(world.One());
  EXPECT_FALSE(refused.controller.Failed()) << refused.controller.ErrorText();
}

TEST(ClusterTest, ACallOnAConnectionThatIsLeftCanStillBeCancelled) {
  ClusterWorld world("192.0.2.1:80");
  auto& early = world.Start();
  world.Start();
  world.Connect();
  const auto requests = world.Arrived();
  ASSERT_EQ(requests.size(), 2u);
  world.Answer(requests[1], kLogoff, "the server is stopping");
  early.controller.StartCancel();
  world.world.Run();
  EXPECT_EQ(early.ends, 1);
  EXPECT_EQ(early.controller.ErrorCode(), ECANCELED);
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
  EXPECT_EQ(world.Dialled().size(), 3u);
  const auto& fourth = world.Start();
  world.world.Run();
  EXPECT_EQ(fourth.controller.ErrorCode(), kOvercrowded);
}

// Calls that wait for names and have ended wait no more.
TEST(ClusterTest, CallsThatTimeOutLeaveTheWaitForNames) {
  ChannelOptions options;
  options.max_pending_calls = 2;
  options.timeout_ms = 10;
  ClusterWorld world("file:///nonexistent/servers", options);
  for (int round = 0; round < 5; ++round) {
    const auto& call = world.Start();
    world.Advance(milliseconds(10));
    EXPECT_EQ(call.controller.ErrorCode(), kRpcTimedOut) << call.controller.ErrorText();
  }
}

TEST(ClusterTest, ADeadServerGetsNoCallsAndIsFoundAgainByAProbe) {
  ClusterWorld world(kThree);
  for (int i = 0; i < 3; ++i) world.Start();
  world.Connect();
  for (const ArrivedRequest& request : world.Arrived()) world.Answer(request);
  const std::string dead = "192.0.2.2:80";
  // It dies with a call under way.
  std::vector<ArrivedRequest> requests;
  for (int i = 0; i < 3; ++i) world.Start();
  requests = world.Arrived();
  world.Break(dead);
  for (const ArrivedRequest& request : requests) {
    if (request.server != dead) world.Answer(request);
  }
  for (const ArrivedRequest& request : world.Arrived()) world.Answer(request);
  for (const auto& [id, call] : world.calls) EXPECT_FALSE(call.controller.Failed()) << id;

  for (int i = 0; i < 20; ++i) {
    world.FailConnects();  // its probes
    world.Start();
    for (const ArrivedRequest& request : world.Arrived()) {
      EXPECT_NE(request.server, dead);
      world.Answer(request);
    }
    world.Advance(milliseconds(50));
  }
  // It comes back: the probe finds it, and after the slow start it has its share.
  for (int i = 0; i < 300 && world.Dialled().empty(); ++i) world.Advance(milliseconds(50));
  ASSERT_EQ(world.Dialled(), std::vector<std::string>{dead});
  world.Connect();
  world.Advance(seconds(10));
  std::set<std::string> seen;
  for (int i = 0; i < 9; ++i) {
    world.Start();
    for (const ArrivedRequest& request : world.Arrived()) {
      seen.insert(request.server);
      world.Answer(request);
    }
  }
  EXPECT_EQ(seen.size(), 3u);
}

TEST(ClusterTest, ASingleServerIsNotProbed) {
  ClusterWorld world("192.0.2.1:80");
  world.Start();
  world.FailConnects();
  world.Advance(seconds(1));
  world.FailConnects();
  world.Advance(seconds(60));
  EXPECT_TRUE(world.Dialled().empty()) << "who calls finds out";
}

TEST(ClusterTest, CallsGoOnToTheirEndsWhenTheChannelIsGone) {
  ClusterWorld world(kThree);
  const auto& call = world.Start();
  world.Connect();
  const ArrivedRequest first = world.One();
  world.Retire();
  EXPECT_EQ(call.ends, 0);
  world.Break(first.server);
  world.Connect();
  world.Answer(world.One());
  EXPECT_EQ(call.ends, 1);
  EXPECT_FALSE(call.controller.Failed()) << call.controller.ErrorText();
  world.world.Run();
  EXPECT_EQ(world.sessions.count(), 0);
}

// Steps in any order. At the end each call has ended once, and nothing is left.
TEST(ClusterChaosTest, EachCallEndsExactlyOnce) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    TestRandom random(seed);
    ChannelOptions options;
    options.max_retry = static_cast<int>(random.Below(4));
    if (random.Chance(0.4)) options.backup_request_ms = static_cast<int64_t>(random.Below(5));
    options.timeout_ms = 30;
    options.connection_type = random.Chance(0.5)   ? CONNECTION_TYPE_SINGLE
                              : random.Chance(0.5) ? CONNECTION_TYPE_POOLED
                                                   : CONNECTION_TYPE_SHORT;
    options.max_connections_per_server = static_cast<int>(random.Size(4));
    ClusterWorld world(random.Chance(0.3) ? "192.0.2.1:80" : kThree, options);
    for (int step = 0; step < 150; ++step) {
      switch (random.Below(8)) {
        case 0:
        case 1:
          world.Start();
          break;
        case 2:
          random.Chance(0.7) ? world.Connect() : world.FailConnects();
          break;
        case 3:
          for (const ArrivedRequest& request : world.Arrived()) {
            if (random.Chance(0.3)) continue;
            const int code = random.Chance(0.3) ? kLogoff : random.Chance(0.3) ? kLimit : 0;
            world.Answer(request, code, "no");
          }
          break;
        case 4:
          if (!world.wires.empty()) world.Break(world.wires.front().server);
          break;
        case 5:
          if (!world.calls.empty()) {
            const auto any = random.Below(world.calls.size());
            std::next(world.calls.begin(), static_cast<int64_t>(any))
                ->second.controller.StartCancel();
          }
          break;
        default:
          world.Advance(milliseconds(random.Below(6)));
      }
    }
    world.Retire();
    world.FailConnects();
    world.Advance(milliseconds(40));
    for (const auto& [id, call] : world.calls) EXPECT_EQ(call.ends, 1) << id;
  }
}

}  // namespace
}  // namespace farcall
