// SPDX-License-Identifier: Apache-2.0

#include "rpc/runtime/settled_connection.h"

#include "gtest/gtest.h"

namespace farcall {
namespace {

void Set(Controller& controller, WhyNotRdma why) {
  auto info = std::make_shared<ConnectionInfo>();
  info->why_not_rdma = why;
  controller.set_connection(std::move(info));
}

TEST(SettledConnectionTest, CallsUntilNothingIsPending) {
  int calls = 0;
  const auto connection = SettledConnection(
      [&](Controller& controller) {
        Set(controller, ++calls < 3 ? WhyNotRdma::kPending : WhyNotRdma::kInUse);
      },
      Duration::max());
  ASSERT_TRUE(connection.ok()) << connection.status();
  EXPECT_EQ((*connection)->why_not_rdma, WhyNotRdma::kInUse);
  EXPECT_EQ(calls, 3);
}

TEST(SettledConnectionTest, FailedCallsTellTheirConnectionToo) {
  const auto connection = SettledConnection(
      [](Controller& controller) {
        controller.SetFailed(kNoService, "no such service");
        Set(controller, WhyNotRdma::kNotAsked);
      },
      Duration::max());
  EXPECT_TRUE(connection.ok()) << connection.status();
}

TEST(SettledConnectionTest, GivesUpWaitingAtItsLimit) {
  const auto connection = SettledConnection(
      [](Controller& controller) { Set(controller, WhyNotRdma::kPending); }, Duration::zero());
  ASSERT_TRUE(connection.ok()) << connection.status();
  EXPECT_EQ((*connection)->why_not_rdma, WhyNotRdma::kPending);
}

TEST(SettledConnectionTest, WithoutAConnectionTheServerIsUnavailable) {
  const auto connection = SettledConnection(
      [](Controller& controller) { controller.SetFailed(ECONNREFUSED, "refused"); },
      Duration::max());
  EXPECT_EQ(connection.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(connection.status().message(), "the server cannot be reached: refused");
}

}  // namespace
}  // namespace farcall
