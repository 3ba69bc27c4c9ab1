// SPDX-License-Identifier: Apache-2.0
//
// Where RDMA is preferred: connections that cannot go over to it are replaced by one that can.

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "rpc/cluster/cluster_testing.h"
#include "rpc/session/client/relink_pace.h"

namespace farcall {
namespace {

using std::chrono::seconds;

constexpr char kServer[] = "192.0.2.1:80";

ConnectionInfo Linked() {
  ConnectionInfo info;
  info.linked = true;
  info.why_not_rdma = WhyNotRdma::kPending;
  return info;
}

ConnectionInfo Plain(WhyNotRdma why) {
  ConnectionInfo info;
  info.why_not_rdma = why;
  return info;
}

ChannelOptions PreferRdma(ConnectionType type = CONNECTION_TYPE_SINGLE) {
  ChannelOptions options = OptionsOf(type);
  options.use_rdma = true;
  options.timeout_ms = 60'000;
  return options;
}

// The reason given by the attempt under way; kInUse: none, or no attempt is under way.
WhyNotRdma InsteadOf(const ClusterWorld& world) {
  const auto& attempts = world.world.transport.attempts;
  if (attempts.size() != 1) return WhyNotRdma::kInUse;
  return attempts[0].options.instead_of.value_or(WhyNotRdma::kInUse);
}

TEST(ClusterRelinkTest, APlainConnectionIsReplacedUnderTheCalls) {
  ClusterWorld world(kServer, PreferRdma());
  const auto& old_call = world.Start();
  world.Connect(Plain(WhyNotRdma::kPeerSilent));
  const ArrivedRequest old_request = world.One();
  const auto old_wire = world.wires[0].end;
  world.Advance(RelinkPace::kFirst);
  EXPECT_EQ(InsteadOf(world), WhyNotRdma::kPeerSilent);
  world.Connect(Linked());
  EXPECT_FALSE(old_wire->destroyed) << "a call is under way on it";
  const auto& new_call = world.Start();
  EXPECT_TRUE(old_wire->TakeFrames().empty());
  world.Answer(world.One());
  EXPECT_EQ(new_call.ends, 1);
  old_wire->Deliver(ClusterWorld::FrameOfAnswer(old_request));
  world.world.Run();
  EXPECT_EQ(old_call.ends, 1);
  EXPECT_FALSE(old_call.controller.Failed()) << old_call.controller.ErrorText();
  EXPECT_TRUE(old_wire->destroyed) << "it was empty";
  world.Advance(seconds(61));  // the deadlines
  EXPECT_EQ(world.world.loop->NextTimer(), std::nullopt) << "what there is is linked";
}

TEST(ClusterRelinkTest, ACallOnWhatWasReplacedCanBeCancelled) {
  ClusterWorld world(kServer, PreferRdma());
  auto& call = world.Start();
  world.Connect(Plain(WhyNotRdma::kPeerSilent));
  world.Advance(RelinkPace::kFirst);
  world.Connect(Linked());
  call.controller.StartCancel();
  world.world.Run();
  EXPECT_EQ(call.ends, 1);
  EXPECT_EQ(call.controller.ErrorCode(), ECANCELED);
}

TEST(ClusterRelinkTest, WhatFailsIsTriedMoreSlowlyAndKeepsNoCallFromTheServer) {
  ClusterWorld world(kServer, PreferRdma());
  world.Start();
  world.Connect(Plain(WhyNotRdma::kPeerSilent));
  world.Answer(world.One());
  Duration pause = RelinkPace::kFirst;
  for (int i = 0; i < 8; ++i) {
    world.Advance(pause);
    ASSERT_EQ(InsteadOf(world), WhyNotRdma::kPeerSilent) << i;
    world.FailConnects(NotRdma(WhyNotRdma::kPeerSilent, ""));
    const auto& call = world.Start();
    world.Answer(world.One());
    EXPECT_FALSE(call.controller.Failed()) << call.controller.ErrorText();
    pause = std::min<Duration>(2 * pause, RelinkPace::kLongest);
    world.Advance(pause / 2 - std::chrono::milliseconds(1));
    EXPECT_TRUE(world.PendingConnects().empty()) << "too soon";
  }
  // The next one that breaks asks by itself.
  world.Break(kServer);
  world.Start();
  EXPECT_EQ(world.PendingConnects().size(), 1u);
  EXPECT_EQ(InsteadOf(world), WhyNotRdma::kInUse);
}

TEST(ClusterRelinkTest, AServerThatTurnsOutSilentIsAskedAsSuch) {
  ClusterWorld world(kServer, PreferRdma());
  world.Start();
  world.Connect(Plain(WhyNotRdma::kNoDevice));
  world.Answer(world.One());
  world.Advance(RelinkPace::kFirst);
  EXPECT_EQ(InsteadOf(world), WhyNotRdma::kNoDevice);
  world.FailConnects(NotRdma(WhyNotRdma::kPeerSilent, ""));
  world.Advance(2 * RelinkPace::kFirst);
  EXPECT_EQ(InsteadOf(world), WhyNotRdma::kPeerSilent);
}

// A reason that has passed is not shown for as long as the connection lives.
TEST(ClusterRelinkTest, APlainConnectionShowsTheReasonThatWasFoundLast) {
  for (const ConnectionType type : {CONNECTION_TYPE_SINGLE, CONNECTION_TYPE_POOLED}) {
    ClusterWorld world(kServer, PreferRdma(type));
    const auto& early = world.Start();
    world.Connect(Plain(WhyNotRdma::kTimedOut));
    world.Answer(world.One());
    const auto& under_way = world.Start();
    world.Advance(RelinkPace::kFirst);
    world.FailConnects(NotRdma(WhyNotRdma::kPeerHasNone, "its cable is out"));
    world.Answer(world.One());
    const auto& late = world.Start();
    world.Answer(world.One());
    EXPECT_EQ(early.controller.connection()->why_not_rdma, WhyNotRdma::kTimedOut);
    for (const auto* call : {&under_way, &late}) {
      EXPECT_EQ(call->controller.connection()->why_not_rdma, WhyNotRdma::kPeerHasNone);
      EXPECT_EQ(call->controller.connection()->why_detail, "its cable is out");
    }
    // An attempt that ends for another cause says nothing of RDMA.
    world.Advance(2 * RelinkPace::kFirst);
    ASSERT_EQ(InsteadOf(world), WhyNotRdma::kPeerHasNone);
    world.FailConnects();
    const auto& last = world.Start();
    world.Answer(world.One());
    EXPECT_EQ(last.controller.connection()->why_not_rdma, WhyNotRdma::kPeerHasNone);
  }
}

// A connection that begins with such a reason is not replaced either.
TEST(ClusterRelinkTest, AReasonFoundLaterThatCannotPassIsTheLast) {
  ClusterWorld world(kServer, PreferRdma());
  world.Start();
  world.Connect(Plain(WhyNotRdma::kTimedOut));
  world.Answer(world.One());
  world.Advance(RelinkPace::kFirst);
  world.FailConnects(NotRdma(WhyNotRdma::kPeerOff, ""));
  world.Advance(seconds(61));
  EXPECT_TRUE(world.PendingConnects().empty());
  EXPECT_EQ(world.world.loop->NextTimer(), std::nullopt);
}

TEST(ClusterRelinkTest, PooledConnectionsThatArePlainAreLeft) {
  ClusterWorld world(kServer, PreferRdma(CONNECTION_TYPE_POOLED));
  for (int i = 0; i < 3; ++i) world.Start();
  world.Connect(Plain(WhyNotRdma::kPeerSilent));
  const std::vector<ArrivedRequest> requests = world.Arrived();
  ASSERT_EQ(requests.size(), 3u);
  world.AnswerOnAll(requests[0]);
  world.Advance(RelinkPace::kFirst);
  ASSERT_EQ(InsteadOf(world), WhyNotRdma::kPeerSilent);
  world.Connect(Linked());
  const auto open = [&] {
    return std::count_if(world.wires.begin(), world.wires.end(),
                         [](const auto& wire) { return !wire.end->destroyed; });
  };
  EXPECT_EQ(open(), 3) << "two have calls, one is linked";
  for (const ArrivedRequest& request : requests) world.AnswerOnAll(request);
  EXPECT_EQ(open(), 1);
  for (const auto& [id, call] : world.calls) EXPECT_FALSE(call.controller.Failed()) << id;
  world.Start();
  EXPECT_TRUE(world.PendingConnects().empty()) << "the linked one was idle";
}

TEST(ClusterRelinkTest, APoolAtItsLimitGivesAnIdleConnectionForIt) {
  ChannelOptions options = PreferRdma(CONNECTION_TYPE_POOLED);
  options.max_connections_per_server = 1;
  ClusterWorld world(kServer, options);
  world.Start();
  world.Connect(Plain(WhyNotRdma::kPeerSilent));
  world.Advance(RelinkPace::kFirst);
  EXPECT_TRUE(world.PendingConnects().empty()) << "the only one has a call";
  world.Answer(world.One());
  world.Advance(2 * RelinkPace::kFirst);
  EXPECT_EQ(InsteadOf(world), WhyNotRdma::kPeerSilent);
}

TEST(ClusterRelinkTest, WhatCannotPassOrWasNotWantedIsLeftAsItIs) {
  for (const WhyNotRdma why : {WhyNotRdma::kPeerOff, WhyNotRdma::kNotForThisAddress}) {
    ClusterWorld world(kServer, PreferRdma());
    world.Start();
    world.Connect(Plain(why));
    world.Answer(world.One());
    world.Advance(seconds(61));
    EXPECT_TRUE(world.PendingConnects().empty()) << Name(why);
    EXPECT_EQ(world.world.loop->NextTimer(), std::nullopt) << Name(why);
  }
  ClusterWorld world(kServer, OptionsOf(CONNECTION_TYPE_SINGLE));
  world.Start();
  world.Connect(Plain(WhyNotRdma::kPeerSilent));
  world.Answer(world.One());
  world.Advance(seconds(61));
  EXPECT_TRUE(world.PendingConnects().empty());
  EXPECT_EQ(world.world.loop->NextTimer(), std::nullopt);
}

TEST(ClusterRelinkTest, AChannelMayEndWhileItAsks) {
  ClusterWorld world(kServer, PreferRdma());
  world.Start();
  world.Connect(Plain(WhyNotRdma::kPeerSilent));
  world.Answer(world.One());
  world.Advance(RelinkPace::kFirst);
  ASSERT_EQ(world.PendingConnects().size(), 1u);
  world.Retire();
  world.Connect(Linked());
  EXPECT_TRUE(world.wires.back().end->destroyed);
}

}  // namespace
}  // namespace farcall
