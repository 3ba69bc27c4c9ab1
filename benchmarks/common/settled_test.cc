// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/common/settled.h"

#include "gtest/gtest.h"

namespace farcall::bench {
namespace {

void Tell(Controller& controller, WhyNotRdma why) {
  auto info = std::make_shared<ConnectionInfo>();
  info->why_not_rdma = why;
  controller.set_connection(std::move(info));
}

TEST(SettledTest, CallsUntilNothingIsPending) {
  int calls = 0;
  const auto connection = SettledConnection(
      [&](Controller& controller) {
        Tell(controller, ++calls < 3 ? WhyNotRdma::kPending : WhyNotRdma::kInUse);
      },
      std::chrono::hours(1));
  ASSERT_TRUE(connection.ok()) << connection.status();
  EXPECT_EQ((*connection)->why_not_rdma, WhyNotRdma::kInUse);
  EXPECT_EQ(calls, 3);
}

TEST(SettledTest, FailedCallsTellTheirConnectionToo) {
  const auto connection = SettledConnection(
      [](Controller& controller) {
        controller.SetFailed(kNoService, "no such service");
        Tell(controller, WhyNotRdma::kNotAsked);
      },
      std::chrono::hours(1));
  EXPECT_TRUE(connection.ok()) << connection.status();
}

TEST(SettledTest, GivesUpWaitingAtItsLimit) {
  const auto connection = SettledConnection(
      [](Controller& controller) { Tell(controller, WhyNotRdma::kPending); }, Duration::zero());
  ASSERT_TRUE(connection.ok()) << connection.status();
  EXPECT_EQ((*connection)->why_not_rdma, WhyNotRdma::kPending);
}

TEST(SettledTest, WithoutAConnectionTheServerIsUnavailable) {
  const auto connection = SettledConnection(
      [](Controller& controller) { controller.SetFailed(ECONNREFUSED, "refused"); },
      std::chrono::hours(1));
  EXPECT_EQ(connection.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(connection.status().message(), "the server cannot be reached: refused");
}

}  // namespace
}  // namespace farcall::bench
