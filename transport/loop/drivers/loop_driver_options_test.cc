// SPDX-License-Identifier: Apache-2.0
//
// What a driver of a loop may be told.

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <memory>

#include "transport/base/clock.h"
#include "transport/base/host/cores.h"
#include "transport/loop/drivers/loop_driver.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

TEST(LoopDriverOptionsTest, HaveBounds) {
  EXPECT_TRUE(LoopDriverOptions().Validate().ok());
  const auto valid = [](auto change) {
    LoopDriverOptions options;
    change(options);
    return options.Validate().ok();
  };
  EXPECT_TRUE(valid([](auto& o) { o.max_spares = 1; }));
  EXPECT_TRUE(valid([](auto& o) { o.max_spares = 1024; }));
  EXPECT_FALSE(valid([](auto& o) { o.max_spares = 0; }));
  EXPECT_FALSE(valid([](auto& o) { o.max_spares = 1025; }));
  EXPECT_TRUE(valid([](auto& o) { o.flush_after = Duration(0); }));
  EXPECT_FALSE(valid([](auto& o) { o.flush_after = Duration(-1); }));
  EXPECT_FALSE(valid([](auto& o) { o.flush_after = milliseconds(11); }));
  EXPECT_FALSE(valid([](auto& o) { o.polling.spin = Duration(0); }));
}

TEST(LoopDriverOptionsTest, ThreadsRunInTheirPlace) {
  for (const int cpu : AllowedCpus()) {
    SteadyClock clock;
    const std::unique_ptr<EventLoop> loop = *EventLoop::Create(clock);
    ThreadPlace place;
    place.MoveTo({cpu});
    LoopDriverOptions options;
    options.place = &place;
    std::atomic<int> ran_on{-1};
    {
      const auto driver = LoopDriver::Start(*loop, options);
      ASSERT_TRUE(driver.ok()) << driver.status();
      // Posted, since a caller may run it itself otherwise.
      loop->Post([&] { ran_on = sched_getcpu(); });
    }
    EXPECT_EQ(ran_on, cpu);
  }
}

TEST(LoopDriverOptionsTest, StartRefusesBadOnes) {
  SteadyClock clock;
  const std::unique_ptr<EventLoop> loop = *EventLoop::Create(clock);
  LoopDriverOptions options;
  options.max_spares = 0;
  EXPECT_EQ(LoopDriver::Start(*loop, options).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace farcall
