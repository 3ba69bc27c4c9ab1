// SPDX-License-Identifier: Apache-2.0

#include "transport/carrier/accept_gate.h"

#include <atomic>
#include <thread>

#include "gtest/gtest.h"
#include "transport/base/clock.h"
#include "transport/loop/event_loop.h"

namespace farcall {
namespace {

TEST(AcceptGateTest, NobodyGetsInAfterClose) {
  SteadyClock clock;
  const auto loop = *EventLoop::Create(clock);
  int accepted = 0;
  AcceptGate gate([&](EventLoop&, std::unique_ptr<Connection>) { ++accepted; });
  {
    const AcceptGate::Pass pass = gate.Enter();
    ASSERT_TRUE(pass.owns_lock());
    gate.Accept(*loop, nullptr);
  }
  gate.Close();
  EXPECT_FALSE(gate.Enter().owns_lock());
  gate.Close();
  EXPECT_EQ(accepted, 1);
}

TEST(AcceptGateTest, CloseWaitsForWhoIsInside) {
  for (int round = 0; round < 200; ++round) {
    AcceptGate gate([](EventLoop&, std::unique_ptr<Connection>) {});
    std::atomic<bool> entered{false};
    std::atomic<bool> left{false};
    std::thread inside([&] {
      AcceptGate::Pass pass = gate.Enter();
      entered = true;
      std::this_thread::yield();
      left = true;
    });
    while (!entered) std::this_thread::yield();
    gate.Close();
    EXPECT_TRUE(left);
    inside.join();
  }
}

}  // namespace
}  // namespace farcall
