// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/echo/echo_pacer.h"

#include <chrono>
#include <memory>

#include "gtest/gtest.h"
#include "transport/base/clock.h"

namespace farcall::bench {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

TEST(EchoPacerTest, ItIsOverAtItsEndThoughCallsAreDue) {
  SteadyClock clock;
  const std::unique_ptr<EventLoop> loop = *EventLoop::Create(clock);
  const auto now = steady_clock::now();
  int asked = 0;
  EchoPacer pacer(*loop, OpenLoopSchedule(now - seconds(2), 1000), now - seconds(1),
                  [&](EchoPacer::Time) {
                    ++asked;
                    return false;
                  });
  EXPECT_TRUE(loop->RunOnce());
  ASSERT_FALSE(loop->thread_needed()) << "else Wait does not return";
  pacer.Wait();
  EXPECT_EQ(asked, 0);
}

}  // namespace
}  // namespace farcall::bench
