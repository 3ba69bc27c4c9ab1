// SPDX-License-Identifier: Apache-2.0
//
// Servers that say that they stop.

#include <gtest/gtest.h>

#include <cerrno>

#include "rpc/cluster/cluster_testing.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

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
  ASSERT_EQ(world.PendingConnects().size(), 1u) << "a new connection";
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

// The answers of a server that stops come one after the other, and the channel has moved on.
TEST(ClusterTest, ARefusalOnAConnectionThatWasLeftDoesNotEndTheNewOne) {
  ClusterWorld world("192.0.2.1:80");
  for (int i = 0; i < 3; ++i) world.Start();
  world.Connect();
  const auto requests = world.Arrived();
  ASSERT_EQ(requests.size(), 3u);
  world.AnswerOnAll(requests[0], kLogoff);
  world.Advance(milliseconds(20));
  ASSERT_EQ(world.PendingConnects().size(), 1u);
  world.Connect();
  world.AnswerOnAll(requests[1], kLogoff);
  world.AnswerOnAll(requests[2], kLogoff);
  world.Advance(milliseconds(20));
  EXPECT_TRUE(world.PendingConnects().empty()) << "one new connection is enough";
  const auto again = world.Arrived();
  EXPECT_EQ(again.size(), 3u);
  for (const ArrivedRequest& request : again) world.AnswerOnAll(request);
  for (const auto& [id, call] : world.calls) {
    EXPECT_FALSE(call.controller.Failed()) << call.controller.ErrorText();
  }
}

TEST(ClusterTest, PooledConnectionsFromBeforeALogoffAreNotUsedAgain) {
  ChannelOptions options;
  options.connection_type = CONNECTION_TYPE_POOLED;
  ClusterWorld world("192.0.2.1:80", options);
  for (int i = 0; i < 2; ++i) world.Start();
  world.Connect();
  const auto requests = world.Arrived();
  ASSERT_EQ(requests.size(), 2u);
  world.AnswerOnAll(requests[0], kLogoff);
  world.AnswerOnAll(requests[1]);
  for (const auto& wire : world.wires) EXPECT_TRUE(wire.end->destroyed);
  world.Advance(milliseconds(20));
  ASSERT_EQ(world.PendingConnects().size(), 1u);
  world.Connect();
  world.AnswerOnAll(world.One());
  for (const auto& [id, call] : world.calls) {
    EXPECT_FALSE(call.controller.Failed()) << call.controller.ErrorText();
  }
}

TEST(ClusterTest, AConnectionThatWasLeftSaysNothingOfTheNextServer) {
  ChannelOptions options = OptionsOf(CONNECTION_TYPE_POOLED);
  options.timeout_ms = 100'000;
  ClusterWorld world(kTwo, options);
  const std::string server = "192.0.2.1:80";
  for (int i = 0; i < 4; ++i) world.Start();
  world.Connect();
  const auto ends = world.WiresTo(server);
  ASSERT_EQ(ends.size(), 2u);
  const std::vector<Frame> frames = ends[0]->TakeFrames();
  ASSERT_EQ(frames.size(), 1u);
  world.AnswerOnAll({server, static_cast<uint64_t>(frames[0].meta.correlation_id()), 0, ""},
                    kLogoff);
  world.Advance(std::chrono::seconds(1));
  ASSERT_EQ(world.PendingConnects().size(), 1u) << "the probe finds its successor";
  world.Connect();
  ends[1]->End(absl::UnavailableError("the old process ended"));
  world.world.Run();
  EXPECT_NE(world.View(0).state, ServerSet::View::State::kDown);
}

// A server may close what is idle, and a call may begin before that is done.
TEST(ClusterTest, ACallThatBeginsWhileAnIdleConnectionClosesGoesOutOnTheNext) {
  for (const ConnectionType type : {CONNECTION_TYPE_SINGLE, CONNECTION_TYPE_POOLED}) {
    SCOPED_TRACE(type);
    ClusterWorld world("192.0.2.1:80", OptionsOf(type));
    world.Start();
    world.Connect();
    world.AnswerOnAll(world.One());
    const auto idle = world.wires[0].end;
    world.world.loop->Post([&] {
      idle->input.Append(absl::string_view(ClusterWorld::FrameOfAnswer({}, kLogoff, "closing")));
      idle->handler->OnRead(idle->input);
    });
    const auto& call = world.Start();
    world.world.Run();
    EXPECT_EQ(call.ends, 0) << call.controller.ErrorText();
    EXPECT_EQ(world.View(0).state, ServerSet::View::State::kServing);
    world.Connect();
    world.AnswerOnAll(world.One());
    EXPECT_FALSE(call.controller.Failed()) << call.controller.ErrorText();
  }
}

}  // namespace
}  // namespace farcall
