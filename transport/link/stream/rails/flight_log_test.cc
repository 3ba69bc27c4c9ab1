// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/rails/flight_log.h"

#include <vector>

#include "gtest/gtest.h"

namespace farcall {
namespace {

using Lost = std::vector<ByteRange>;

TEST(FlightLogTest, WhatWasNotAcknowledgedIsLost) {
  FlightLog log;
  log.Sent(100, 10);
  log.Sent(200, 20);
  EXPECT_EQ(log.sent(), 30u);
  EXPECT_TRUE(log.Acknowledge(4));
  EXPECT_EQ(log.in_flight(), 26u);
  EXPECT_EQ(log.TakeLost(), (Lost{{104, 110}, {200, 220}}));
  EXPECT_EQ(log.TakeLost(), Lost());
}

TEST(FlightLogTest, ACountGoesOverPieces) {
  FlightLog log;
  log.Sent(100, 10);
  log.Sent(200, 20);
  log.Sent(50, 5);
  EXPECT_TRUE(log.Acknowledge(31));
  EXPECT_TRUE(log.Acknowledge(12));  // late
  EXPECT_EQ(log.acknowledged(), 31u);
  EXPECT_EQ(log.TakeLost(), (Lost{{51, 55}}));
}

TEST(FlightLogTest, MoreThanWasSentIsRefused) {
  FlightLog log;
  log.Sent(0, 3);
  EXPECT_TRUE(log.Acknowledge(3));
  EXPECT_FALSE(log.Acknowledge(4));
}

TEST(FlightLogTest, WhatTouchesIsOneRange) {
  FlightLog log;
  log.Sent(0, 3);
  log.Sent(3, 4);
  EXPECT_EQ(log.TakeLost(), (Lost{{0, 7}}));
}

TEST(FlightLogTest, WhatHasComeByAnyLinkIsNotLost) {
  FlightLog log;
  log.Sent(0, 3);
  log.Sent(10, 4);
  log.Sent(20, 4);
  log.Raise(14);
  EXPECT_EQ(log.in_flight(), 11u);
  log.Raise(22);  // a part of it
  EXPECT_EQ(log.TakeLost(), (Lost{{20, 24}}));
}

TEST(FlightLogTest, TheCountGoesOnBehindWhatWasLost) {
  FlightLog log;
  log.Sent(0, 5);
  log.TakeLost();
  log.Sent(5, 5);
  EXPECT_TRUE(log.Acknowledge(3));
  EXPECT_EQ(log.in_flight(), 7u);
  EXPECT_TRUE(log.Acknowledge(6));
  EXPECT_EQ(log.TakeLost(), (Lost{{6, 10}}));
}

}  // namespace
}  // namespace farcall
