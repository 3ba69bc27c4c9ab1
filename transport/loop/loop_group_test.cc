// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/loop_group.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "transport/base/clock.h"

namespace farcall {
namespace {

TEST(LoopGroupTest, GoesRound) {
  SteadyClock clock;
  const std::unique_ptr<EventLoop> a = *EventLoop::Create(clock);
  const std::unique_ptr<EventLoop> b = *EventLoop::Create(clock);
  LoopGroup group({a.get(), b.get()});
  EXPECT_EQ(group.size(), 2u);
  EXPECT_EQ(&group.at(0), a.get());
  EXPECT_EQ(&group.at(1), b.get());
  std::map<EventLoop*, int> given;
  for (int i = 0; i < 10; ++i) ++given[&group.Next()];
  EXPECT_EQ(given[a.get()], 5);
  EXPECT_EQ(given[b.get()], 5);
}

TEST(LoopGroupDeathTest, AGroupHasALoop) { EXPECT_DEATH(LoopGroup({}), "a loop group has a loop"); }

}  // namespace
}  // namespace farcall
