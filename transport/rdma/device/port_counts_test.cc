// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/device/port_counts.h"

#include <utility>

#include "gtest/gtest.h"

namespace farcall {
namespace {

TEST(PortCountsTest, CountsHolds) {
  PortCounts counts;
  ibv_context context{};
  const PortCounts::Port port{&context, 1};
  EXPECT_EQ(counts.Of(port), 0u);
  {
    PortHold one(counts, port);
    PortHold other(counts, port);
    EXPECT_EQ(counts.Of(port), 2u);
    EXPECT_EQ(counts.Of({&context, 2}), 0u);
    PortHold moved = std::move(one);
    EXPECT_EQ(counts.Of(port), 2u);
    moved.Release();
    moved.Release();
    EXPECT_EQ(counts.Of(port), 1u);
    other = PortHold(counts, {&context, 2});
    EXPECT_EQ(counts.Of(port), 0u);
    EXPECT_EQ(counts.Of({&context, 2}), 1u);
  }
  EXPECT_EQ(counts.Of({&context, 2}), 0u);
}

}  // namespace
}  // namespace farcall
