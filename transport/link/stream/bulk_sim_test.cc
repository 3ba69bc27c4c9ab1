// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/testing/bulk_sim.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace farcall {
namespace {

TEST(BulkSimTest, RailsOfAnyRatesCarryNineTenthsOfTheirSumSoonAfterTheStart) {
  EXPECT_EQ(CheckBulk(), "");
}

TEST(BulkSimTest, FollowsARailThatGetsSlowAndFastAgain) {
  constexpr uint64_t kMessage = uint64_t{8} << 20;
  BulkSim sim({1000, 1000});
  // Times as long as the sum of the rates needs for so many messages.
  const auto carry = [&](int messages, double sum) {
    const auto took = static_cast<double>(sim.Carry(messages * kMessage, 0));
    return took * sum / static_cast<double>(messages * kMessage);
  };
  carry(20, 2000);
  sim.SetRate(1, 50);
  carry(40, 1050);
  EXPECT_LE(carry(12, 1050), 1.1);
  sim.SetRate(1, 1000);
  carry(200, 2000);
  EXPECT_LE(carry(20, 2000), 1.1);
}

}  // namespace
}  // namespace farcall
