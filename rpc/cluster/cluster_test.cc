// SPDX-License-Identifier: Apache-2.0
//
// Servers of a channel: how calls are spread over them, and how they are lost and found again.

#include "rpc/cluster/cluster.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <set>

#include "rpc/cluster/cluster_testing.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(ClusterTest, CallsAreSpreadOverTheServersWithOneConnectionEach) {
  ClusterWorld world(kThree);
  for (int i = 0; i < 9; ++i) world.Start();
  EXPECT_EQ(world.PendingConnects().size(), 3u);
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

// Between two looks nothing else tells them.
TEST(ClusterTest, CallsThatTimeOutBeforeTheNextLookSayWhyThereAreNoNames) {
  ChannelOptions options;
  options.timeout_ms = 10;
  ClusterWorld world("file:///nonexistent/servers", options);
  world.world.RunBlocking();
  world.world.Run();
  const auto& call = world.Start();
  EXPECT_EQ(call.ends, 0);
  world.Advance(milliseconds(10));
  EXPECT_EQ(call.controller.ErrorCode(), kRpcTimedOut);
  EXPECT_NE(call.controller.ErrorText().find("/nonexistent/servers"), std::string::npos)
      << call.controller.ErrorText();
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
  for (int i = 0; i < 300 && world.PendingConnects().empty(); ++i) world.Advance(milliseconds(50));
  ASSERT_EQ(world.PendingConnects(), std::vector<std::string>{dead});
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
  EXPECT_TRUE(world.PendingConnects().empty()) << "who calls finds out";
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

// Publishing an empty list ends the last call, and with it the cluster.
TEST(ClusterTest, NamesThatComeToNothingEndTheCallsOfAChannelThatIsGone) {
  ClusterWorld world("file:///nonexistent/servers");
  const auto& call = world.Start();
  world.Retire();
  EXPECT_EQ(call.ends, 0);
  world.world.RunBlocking();
  world.world.Run();
  EXPECT_EQ(call.ends, 1);
  EXPECT_EQ(call.controller.ErrorCode(), EHOSTDOWN);
  EXPECT_EQ(world.sessions.count(), 0);
}

}  // namespace
}  // namespace farcall
