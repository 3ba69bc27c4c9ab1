// SPDX-License-Identifier: Apache-2.0

#include "transport/link/upgrade/client_upgrade_machine.h"

#include <algorithm>
#include <set>

#include "gtest/gtest.h"

namespace farcall {
namespace {

using State = ClientUpgradeState;
using Do = ClientUpgradeMachine::Do;
using std::chrono::seconds;

const TimePoint kStart = TimePoint(seconds(1000));
const absl::Status kOff = NotRdma(WhyNotRdma::kPeerOff, "");
const absl::Status kBroke = NotRdma(WhyNotRdma::kBroken, "cable");

TEST(ClientUpgradeMachineTest, WhatComesOutOfItsTurnChangesNothing) {
  ClientUpgradeMachine client(UpgradeTimes(), 1);
  EXPECT_EQ(client.OnOffer(0), Do::kNothing);
  client.OnConnected(kStart, 0);
  client.OnDecline(kStart, 0, kOff);
  EXPECT_EQ(client.state(), State::kWaiting);
  EXPECT_EQ(ReasonOf(client.why()), WhyNotRdma::kPending);
  ASSERT_EQ(client.OnTime(kStart), Do::kAsk);
  client.OnConnected(kStart, 1);
  EXPECT_EQ(client.state(), State::kAsking);
  ASSERT_EQ(client.OnOffer(1), Do::kConnect);
  EXPECT_EQ(client.OnOffer(1), Do::kNothing);
  EXPECT_EQ(client.OnTime(kStart + seconds(100)), Do::kNothing);
  client.OnConnected(kStart, 1);
  client.OnDecline(kStart, 1, kOff);
  EXPECT_EQ(client.OnTime(kStart + seconds(100)), Do::kNothing);
  EXPECT_EQ(client.state(), State::kReady);
}

TEST(ClientUpgradeMachineTest, FirstAttemptIsAtOnce) {
  ClientUpgradeMachine client(UpgradeTimes(), 1);
  EXPECT_LE(*client.next(), kStart);
  EXPECT_EQ(ReasonOf(client.why()), WhyNotRdma::kPending);
  EXPECT_EQ(client.OnTime(kStart), Do::kAsk);
  EXPECT_EQ(client.generation(), 1u);
  EXPECT_EQ(client.OnOffer(1), Do::kConnect);
  EXPECT_FALSE(client.next().has_value()) << "the connect has its own timeout";
  client.OnConnected(kStart, 1);
  EXPECT_EQ(client.state(), State::kReady);
}

// Declined so often that the pause is the longest.
ClientUpgradeMachine AfterManyFailures(TimePoint& now) {
  ClientUpgradeMachine client(UpgradeTimes(), 1);
  for (int i = 0; i < 10; ++i) {
    now = std::max(now, *client.next());
    EXPECT_EQ(client.OnTime(now), Do::kAsk);
    client.OnDecline(now, client.generation(), NotRdma(WhyNotRdma::kPeerHasNone, ""));
  }
  EXPECT_GE(*client.next() - now, UpgradeTimes().longest_pause / 2);
  return client;
}

TEST(ClientUpgradeMachineTest, WhatComesLetsThePausesBeginAnew) {
  TimePoint now = kStart;
  ClientUpgradeMachine client = AfterManyFailures(now);
  client.RetrySoon(now);
  const TimePoint next = *client.next();
  EXPECT_LE(next - now, UpgradeTimes().first_pause);
  EXPECT_GE(next - now, UpgradeTimes().first_pause / 2) << "not all clients at once";
  client.RetrySoon(next - UpgradeTimes().first_pause / 4);
  EXPECT_EQ(*client.next(), next) << "what comes again and again puts nothing off";
  EXPECT_EQ(client.OnTime(next), Do::kAsk);
}

TEST(ClientUpgradeMachineTest, WhatComesDuringAnAttemptCountsForThePauseBehindIt) {
  TimePoint now = kStart;
  ClientUpgradeMachine client = AfterManyFailures(now);
  now = *client.next();
  ASSERT_EQ(client.OnTime(now), Do::kAsk);
  client.RetrySoon(now);
  EXPECT_EQ(client.state(), State::kAsking);
  client.OnDecline(now, client.generation(), NotRdma(WhyNotRdma::kPeerHasNone, ""));
  EXPECT_LE(*client.next() - now, UpgradeTimes().first_pause);
}

TEST(ClientUpgradeMachineTest, NothingIsDueEarly) {
  ClientUpgradeMachine client(UpgradeTimes(), 1);
  ASSERT_EQ(client.OnTime(kStart), Do::kAsk);
  EXPECT_EQ(client.OnTime(kStart), Do::kNothing);
  EXPECT_EQ(client.state(), State::kAsking);
}

TEST(ClientUpgradeMachineTest, DeclinedIsAskedAgainLater) {
  ClientUpgradeMachine client(UpgradeTimes(), 1);
  ASSERT_EQ(client.OnTime(kStart), Do::kAsk);
  client.OnDecline(kStart, 1, kOff);
  EXPECT_EQ(client.state(), State::kWaiting);
  EXPECT_EQ(ReasonOf(client.why()), WhyNotRdma::kPeerOff);
  ASSERT_TRUE(client.next().has_value());
  EXPECT_GE(*client.next(), kStart + seconds(1) / 2);
  EXPECT_LE(*client.next(), kStart + seconds(1));
  EXPECT_EQ(client.OnTime(*client.next()), Do::kAsk);
  EXPECT_EQ(client.generation(), 2u);
}

TEST(ClientUpgradeMachineTest, NoAnswerIsATimeout) {
  const UpgradeTimes times;
  ClientUpgradeMachine client(times, 1);
  ASSERT_EQ(client.OnTime(kStart), Do::kAsk);
  EXPECT_EQ(*client.next(), kStart + times.answer);
  EXPECT_EQ(client.OnTime(*client.next()), Do::kNothing);
  EXPECT_EQ(ReasonOf(client.why()), WhyNotRdma::kTimedOut);
  EXPECT_EQ(client.OnOffer(1), Do::kNothing) << "too late";
  EXPECT_EQ(client.OnTime(*client.next()), Do::kAsk);
  EXPECT_EQ(client.OnOffer(1), Do::kNothing) << "to the attempt before";
  EXPECT_EQ(client.OnOffer(2), Do::kConnect);
}

TEST(ClientUpgradeMachineTest, PausesDoubleUpToAMinute) {
  ClientUpgradeMachine client(UpgradeTimes(), 7);
  TimePoint now = kStart;
  for (const int whole : {1, 2, 4, 8, 16, 32, 60, 60}) {
    ASSERT_EQ(client.OnTime(now), Do::kAsk);
    ASSERT_EQ(client.OnOffer(client.generation()), Do::kConnect);
    client.OnLost(now, client.generation(), kBroke);
    EXPECT_GE(*client.next(), now + seconds(whole) / 2) << whole;
    EXPECT_LE(*client.next(), now + seconds(whole)) << whole;
    now = *client.next();
  }
}

TEST(ClientUpgradeMachineTest, PausesDifferBetweenConnections) {
  std::set<TimePoint> nexts;
  for (uint64_t random = 0; random < 100; ++random) {
    ClientUpgradeMachine client(UpgradeTimes(), random);
    ASSERT_EQ(client.OnTime(kStart), Do::kAsk);
    client.OnDecline(kStart, 1, kOff);
    nexts.insert(*client.next());
  }
  EXPECT_GT(nexts.size(), 90u);
}

TEST(ClientUpgradeMachineTest, LongUseResetsThePauses) {
  ClientUpgradeMachine client(UpgradeTimes(), 1);
  TimePoint now = kStart;
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(client.OnTime(now), Do::kAsk);
    ASSERT_EQ(client.OnOffer(client.generation()), Do::kConnect);
    client.OnConnected(now, client.generation());
    client.OnLost(now, client.generation(), kBroke);
    now = *client.next();
  }
  EXPECT_GE(now, kStart + seconds(15)) << "breaking at once is no success";
  ASSERT_EQ(client.OnTime(now), Do::kAsk);
  ASSERT_EQ(client.OnOffer(client.generation()), Do::kConnect);
  client.OnConnected(now, client.generation());
  now += seconds(100);
  client.OnLost(now, client.generation(), kBroke);
  EXPECT_LE(*client.next(), now + seconds(1));
}

TEST(ClientUpgradeMachineTest, WhatOtherAttemptsCameToIsIgnored) {
  ClientUpgradeMachine client(UpgradeTimes(), 1);
  ASSERT_EQ(client.OnTime(kStart), Do::kAsk);
  client.OnDecline(kStart, 2, kOff);
  client.OnLost(kStart, 2, kBroke);
  EXPECT_EQ(client.state(), State::kAsking);
  ASSERT_EQ(client.OnOffer(1), Do::kConnect);
  client.OnConnected(kStart, 2);
  EXPECT_EQ(client.state(), State::kConnecting);
}

// Asks and dials at `now`.
void Connect(ClientUpgradeMachine& client, TimePoint now) {
  ASSERT_EQ(client.OnTime(now), Do::kAsk);
  ASSERT_EQ(client.OnOffer(client.generation()), Do::kConnect);
  client.OnConnected(now, client.generation());
}

TEST(ClientUpgradeMachineTest, AsksForFurtherRailsAtOnce) {
  ClientUpgradeMachine client(UpgradeTimes(), 1, 3);
  Connect(client, kStart);
  EXPECT_EQ(client.state(), State::kWaiting);
  EXPECT_TRUE(client.ready(1));
  Connect(client, kStart);
  Connect(client, kStart);
  EXPECT_EQ(client.state(), State::kReady);
  EXPECT_EQ(client.generation(), 3u);
  EXPECT_EQ(client.rails(), 3u);
  EXPECT_FALSE(client.next().has_value());
}

TEST(ClientUpgradeMachineTest, OfSeveralRailsTheOneThatIsLostIsAskedForAgain) {
  ClientUpgradeMachine client(UpgradeTimes(), 1, 2);
  Connect(client, kStart);
  Connect(client, kStart);
  client.OnLost(kStart, 1, kBroke);
  EXPECT_EQ(client.state(), State::kWaiting);
  EXPECT_FALSE(client.ready(1));
  EXPECT_TRUE(client.ready(2));
  EXPECT_GE(*client.next(), kStart + seconds(1) / 2);
  client.OnLost(kStart, 1, kBroke);
  EXPECT_EQ(client.rails(), 1u);
  Connect(client, *client.next());
  EXPECT_EQ(client.generation(), 3u);
  EXPECT_EQ(client.state(), State::kReady);
}

// What is dialled meanwhile does not make the next come sooner.
TEST(ClientUpgradeMachineTest, ALossDuringAnAttemptHasItsPauseBehindIt) {
  ClientUpgradeMachine client(UpgradeTimes(), 1, 2);
  Connect(client, kStart);
  ASSERT_EQ(client.OnTime(kStart), Do::kAsk);
  const TimePoint deadline = *client.next();
  client.OnLost(kStart, 1, kBroke);
  EXPECT_EQ(client.state(), State::kAsking);
  EXPECT_EQ(*client.next(), deadline);
  ASSERT_EQ(client.OnOffer(2), Do::kConnect);
  client.OnConnected(kStart, 2);
  EXPECT_EQ(client.state(), State::kWaiting);
  EXPECT_GE(*client.next(), kStart + seconds(1) / 2);
}

TEST(ClientUpgradeMachineTest, AFurtherRailThatIsDeclinedLeavesTheOthers) {
  ClientUpgradeMachine client(UpgradeTimes(), 1, 2);
  Connect(client, kStart);
  ASSERT_EQ(client.OnTime(kStart), Do::kAsk);
  client.OnDecline(kStart, 2, kOff);
  EXPECT_TRUE(client.ready(1));
  EXPECT_GE(*client.next(), kStart + seconds(1) / 2);
}

// All over one port, as with one adapter at each end.
TEST(ClientUpgradeMachineTest, RailsOverOnePortRestEachForItself) {
  UpgradeTimes times;
  times.longest_pause = times.first_pause;
  ClientUpgradeMachine client(times, 1, 4);
  const auto connect = [&](TimePoint now) {
    ASSERT_EQ(client.OnTime(now), Do::kAsk);
    ASSERT_EQ(client.OnOffer(client.generation()), Do::kConnect);
    client.OnConnected(now, client.generation(), "mlx5_0 port 1");
  };
  for (int i = 0; i < 4; ++i) connect(kStart);
  for (const uint32_t generation : {1, 2, 3}) client.OnLost(kStart, generation, kBroke);
  EXPECT_LE(*client.next(), kStart + seconds(1)) << "each broke once";
  TimePoint now = *client.next();
  for (int i = 0; i < 3; ++i) {
    connect(now);
    client.OnLost(now, client.generation(), kBroke);
    now = *client.next();
  }
  EXPECT_LE(now, kStart + seconds(4)) << "two may be there besides the one that rests";
}

TEST(ClientUpgradeMachineTest, ARailThatErrsIsAskedForAfterItsRest) {
  UpgradeTimes times;
  times.first_pause = times.longest_pause = seconds(1);
  ClientUpgradeMachine client(times, 1, 2);
  Connect(client, kStart);
  TimePoint now = kStart;
  for (int i = 0; i < 3; ++i) {
    ASSERT_LE(now, kStart + seconds(2));
    ASSERT_EQ(client.OnTime(now), Do::kAsk);
    ASSERT_EQ(client.OnOffer(client.generation()), Do::kConnect);
    client.OnConnected(now, client.generation(), "mlx5_1 port 1");
    client.OnLost(now, client.generation(), kBroke);
    now = i == 2 ? now : *client.next();
  }
  EXPECT_EQ(*client.next(), now + times.first_rest);
  EXPECT_EQ(client.OnTime(now + seconds(29)), Do::kNothing);
  client.OnLost(now, 1, kBroke);
  EXPECT_LE(*client.next(), now + seconds(1)) << "none is left, so that it does not count";
}

TEST(ClientUpgradeMachineTest, NothingComesAfterTheEnd) {
  ClientUpgradeMachine client(UpgradeTimes(), 1);
  client.OnEnd();
  EXPECT_FALSE(client.next().has_value());
  EXPECT_EQ(client.OnTime(kStart), Do::kNothing);
  EXPECT_EQ(client.OnOffer(0), Do::kNothing);
  client.OnDecline(kStart, 0, kOff);
  client.OnLost(kStart, 0, kBroke);
  EXPECT_EQ(client.state(), State::kEnded);
}

}  // namespace
}  // namespace farcall
