// SPDX-License-Identifier: Apache-2.0
//
// Probes of servers that are down, where there are several.

#include <gtest/gtest.h>

#include <cerrno>

#include "rpc/cluster/cluster_testing.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using State = ServerSet::View::State;

constexpr char kFirst[] = "192.0.2.1:80";

// A host that lost its power: nothing is answered, and no connection breaks.
TEST(ClusterTest, AnOldConnectionIsNoProofThatItsServerLives) {
  ClusterWorld world(kTwo, OptionsOf(CONNECTION_TYPE_POOLED));
  for (int i = 0; i < 2; ++i) world.Start();
  world.Connect();
  world.WiresTo(kFirst)[0]->End(absl::UnavailableError("reset"));
  world.world.Run();
  world.Connect();  // the probe's: it stays, and idle
  for (const ArrivedRequest& request : world.Arrived()) world.AnswerOnAll(request);
  world.Advance(seconds(20));
  ASSERT_NE(world.View(0).state, State::kDown);
  for (int i = 0; i < 4; ++i) world.Start();
  world.FailConnects();
  int connects = 0;
  for (int i = 0; i < 100; ++i) {
    world.Advance(milliseconds(10));
    connects += static_cast<int>(world.PendingConnects().size());
    world.FailConnects();
    ASSERT_EQ(world.View(0).state, State::kDown) << i;
  }
  EXPECT_GT(connects, 0);
}

TEST(ClusterTest, CallsOnTheSharedConnectionOutliveAProbe) {
  for (const bool cancel : {true, false}) {
    SCOPED_TRACE(cancel);
    ClusterWorld world(kTwo, OptionsOf(CONNECTION_TYPE_SINGLE));
    for (int i = 0; i < 2; ++i) world.Start();
    RoutedCall::Plan pooled = world.Plan();
    pooled.connection_type = CONNECTION_TYPE_POOLED;
    for (int i = 0; i < 2; ++i) world.Start(pooled);
    world.Connect();
    const auto ends = world.WiresTo(kFirst);
    ASSERT_EQ(ends.size(), 2u);
    const std::vector<Frame> frames = ends[0]->TakeFrames();
    ASSERT_EQ(frames.size(), 1u);
    ends[1]->End(absl::UnavailableError("reset"));
    world.world.Run();
    ASSERT_EQ(world.PendingConnects().size(), 1u) << "the probe";
    world.Connect();
    const ArrivedRequest owed{kFirst, static_cast<uint64_t>(frames[0].meta.correlation_id()), 0,
                              ""};
    ClusterWorld::Call& call = world.calls.at(owed.id);
    EXPECT_EQ(call.ends, 0);
    if (cancel) {
      call.controller.StartCancel();
      world.world.Run();
      EXPECT_EQ(call.controller.ErrorCode(), ECANCELED);
    } else {
      world.AnswerOnAll(owed);
      EXPECT_FALSE(call.controller.Failed()) << call.controller.ErrorText();
    }
    EXPECT_EQ(call.ends, 1);
  }
}

// A server says that it stops while a probe of it is under way.
TEST(ClusterTest, AProbeThatIsLeftAfterALogoffIsMadeAgain) {
  for (const bool succeeds : {true, false}) {
    SCOPED_TRACE(succeeds);
    ChannelOptions options = OptionsOf(CONNECTION_TYPE_POOLED);
    options.timeout_ms = 100'000;
    ClusterWorld world(kTwo, options);
    for (int i = 0; i < 4; ++i) world.Start();
    world.Connect();
    const auto ends = world.WiresTo(kFirst);
    ASSERT_EQ(ends.size(), 2u);
    const std::vector<Frame> frames = ends[1]->TakeFrames();
    ASSERT_EQ(frames.size(), 1u);
    ends[0]->End(absl::UnavailableError("reset"));
    world.world.Run();
    ASSERT_EQ(world.PendingConnects().size(), 1u) << "the probe";
    const ArrivedRequest refused{kFirst, static_cast<uint64_t>(frames[0].meta.correlation_id()), 0,
                                 ""};
    world.AnswerOnAll(refused, kLogoff);
    succeeds ? world.Connect() : world.FailConnects();
    ASSERT_EQ(world.View(0).state, State::kDown);
    world.Advance(seconds(1));
    EXPECT_EQ(world.PendingConnects().size(), 1u);
    world.Connect();
    EXPECT_NE(world.View(0).state, State::kDown);
  }
}

}  // namespace
}  // namespace farcall
