// SPDX-License-Identifier: Apache-2.0

#include "transport/testing/sim/sim_world.h"

#include "gtest/gtest.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

TEST(SimWorldTest, TimeJumpsToTheNextTimer) {
  SimWorld world(1, 2);
  const TimePoint start = world.clock().Now();
  std::vector<int> fired;
  Timer late([&] { fired.push_back(2); });
  Timer early([&] { fired.push_back(1); });
  world.Run(world.loop(0), [&] { world.loop(0).SetTimer(late, start + milliseconds(20)); });
  world.Run(world.loop(1), [&] { world.loop(1).SetTimer(early, start + milliseconds(5)); });
  EXPECT_TRUE(world.Until([&] { return fired.size() == 2; }, milliseconds(100)));
  EXPECT_EQ(fired, (std::vector<int>{1, 2}));
  EXPECT_EQ(world.clock().Now(), start + milliseconds(20));
}

TEST(SimWorldTest, StepSaysWhenNothingIsLeft) {
  SimWorld world(1, 1);
  EXPECT_FALSE(world.Step());
  bool ran = false;
  world.loop(0).Post([&] { ran = true; });
  EXPECT_TRUE(world.Step());
  EXPECT_TRUE(ran);
  EXPECT_FALSE(world.Step());
}

TEST(SimWorldTest, UntilEndsAtItsLimit) {
  SimWorld world(1, 1);
  const TimePoint start = world.clock().Now();
  Timer tick([] {});
  world.Run(world.loop(0), [&] { world.loop(0).SetTimer(tick, start + milliseconds(50)); });
  EXPECT_FALSE(world.Until([] { return false; }, milliseconds(10)));
  EXPECT_TRUE(tick.pending());
  world.RunFor(milliseconds(60));
  EXPECT_FALSE(tick.pending());
  EXPECT_EQ(world.clock().Now(), start + milliseconds(60));
}

TEST(SimWorldDeathTest, ATimeThatStandsStillIsAFault) {
  // In a process that is no child of this one: a loop works in its own only.
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  SimWorld world(1, 1);
  Timer busy([] {});
  EventLoop& loop = world.loop(0);
  busy.fire = [&] { loop.SetTimer(busy, loop.now()); };
  world.Run(loop, [&] { loop.SetTimer(busy, loop.now()); });
  EXPECT_DEATH(world.RunFor(milliseconds(1)), "come to rest");
  world.Run(loop, [&] { loop.CancelTimer(busy); });
}

TEST(SimWorldTest, RunGoesBehindTheTasksThatWait) {
  SimWorld world(1, 1);
  std::vector<int> order;
  world.loop(0).Post([&] { order.push_back(1); });
  world.Run(world.loop(0), [&] { order.push_back(2); });
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

}  // namespace
}  // namespace farcall
