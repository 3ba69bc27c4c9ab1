// SPDX-License-Identifier: Apache-2.0

#include "transport/transport.h"

#include <gtest/gtest.h>

#include <string>

namespace farcall {
namespace {

std::string ErrorOf(const ConnectionOptions& options) {
  const absl::Status status = options.Validate();
  EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(ConnectionOptionsTest, DefaultsAreValid) { EXPECT_EQ(ErrorOf({}), ""); }

TEST(ConnectionOptionsTest, TheLowWaterMarkLiesBelowTheHighOne) {
  ConnectionOptions options;
  options.high_water = 100;
  options.low_water = 99;
  EXPECT_EQ(ErrorOf(options), "");
  options.low_water = 100;
  EXPECT_EQ(ErrorOf(options), "low_water (100) must be below high_water (100)");
  options.low_water = 101;
  EXPECT_EQ(ErrorOf(options), "low_water (101) must be below high_water (100)");
}

TEST(ConnectionOptionsTest, ACloseTakesSomeTime) {
  ConnectionOptions options;
  options.close_timeout = Duration(1);
  EXPECT_EQ(ErrorOf(options), "");
  for (const Duration bad : {Duration::zero(), Duration(-1)}) {
    options.close_timeout = bad;
    EXPECT_EQ(ErrorOf(options), "close_timeout must be above 0");
  }
}

TEST(ConnectionOptionsTest, TheTrafficClassIsAByte) {
  ConnectionOptions options;
  for (const int good : {0, 4, 255}) {
    options.traffic_class = good;
    EXPECT_EQ(ErrorOf(options), "");
  }
  for (const int bad : {-1, 256}) {
    options.traffic_class = bad;
    EXPECT_EQ(ErrorOf(options),
              "traffic_class must be 0 to 255 (DSCP << 2), not " + std::to_string(bad));
  }
}

TEST(ConnectionInfoTest, TransportsHaveNames) {
  EXPECT_EQ(ToString(TransportKind::kTcp), "tcp");
  EXPECT_EQ(ToString(TransportKind::kRdma), "rdma");
  EXPECT_EQ(ToString(TransportKind::kSimulated), "simulated");
  EXPECT_EQ(ToString(static_cast<TransportKind>(200)), "unknown");
}

// Whoever adds a reason gives it a line of its own.

TEST(ConnectionInfoTest, BeginsWithAPlainSocketThatCarriedNothing) {
  const ConnectionInfo info;
  EXPECT_EQ(info.peer.family(), AddressFamily::kNone);
  EXPECT_EQ(info.transport, TransportKind::kTcp);
  EXPECT_EQ(info.why_not_rdma, WhyNotRdma::kNotAsked);
  EXPECT_EQ(info.device, "");
  EXPECT_EQ(info.bytes_read + info.bytes_written + info.reads + info.writes, 0u);
}

}  // namespace
}  // namespace farcall
