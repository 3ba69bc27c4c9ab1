// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/peer/one_at_a_time.h"

#include <gtest/gtest.h>

#include <future>

namespace farcall::doctor {
namespace {

TEST(OneAtATimeTest, AnotherIsRefusedUntilTheResultIsTold) {
  OneAtATime work;
  std::promise<void> end;
  std::promise<bool> told;
  ASSERT_TRUE(work.Start([&](const auto&) {
    end.get_future().wait();
    // The next may begin as soon as it hears of it.
    return [&] { told.set_value(true); };
  }));
  EXPECT_FALSE(work.Start([](const auto&) { return std::function<void()>(); }));
  end.set_value();
  EXPECT_TRUE(told.get_future().get());
  EXPECT_TRUE(work.Start([](const auto&) { return std::function<void()>(); }));
}

TEST(OneAtATimeTest, WhoDestroysItAsksItToEndAndWaits) {
  bool ended = false;
  {
    OneAtATime work;
    ASSERT_TRUE(work.Start([&](const std::atomic<bool>& stop) {
      while (!stop) std::this_thread::yield();
      ended = true;
      return std::function<void()>();
    }));
  }
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace farcall::doctor
