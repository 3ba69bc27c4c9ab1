// SPDX-License-Identifier: Apache-2.0
//
// Many clients of one server that lose RDMA at one moment: they do not come back together, so that
// a server that is back has to do with some of them at a time.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <vector>

#include "gtest/gtest.h"
#include "transport/link/upgrade/client_upgrade_machine.h"
#include "transport/testing/seeds_here.h"
#include "transport/testing/test_random.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

constexpr size_t kClients = 1000;
constexpr int kRounds = 8;

TimePoint Begin() { return TimePoint() + std::chrono::hours(1); }

// When each client asks, by its attempts: each is declined as soon as it asks.
std::vector<std::vector<Duration>> Asks(uint64_t seed) {
  TestRandom random(seed);
  std::vector<std::vector<Duration>> rounds(kRounds);
  for (size_t i = 0; i < kClients; ++i) {
    ClientUpgradeMachine client(UpgradeTimes(), random.Next());
    TimePoint now = Begin();
    for (int round = 0; round < kRounds; ++round) {
      now = std::max(now, client.next().value_or(now));
      EXPECT_EQ(client.OnTime(now), ClientUpgradeMachine::Do::kAsk);
      rounds[static_cast<size_t>(round)].push_back(now - Begin());
      client.OnDecline(now, client.generation(), NotRdma(WhyNotRdma::kPeerHasNone, ""));
    }
  }
  return rounds;
}

// The most that come within any tenth of `span`, aligned to it.
size_t MostAtOnce(const std::vector<Duration>& times, Duration span) {
  std::map<Duration::rep, size_t> slots;
  size_t most = 0;
  for (const Duration time : times) most = std::max(most, ++slots[time / (span / 10)]);
  return most;
}

TEST(UpgradeLockstepTest, AttemptsSpreadOverHalfOfThePause) {
  for (uint64_t seed = 1; seed <= SeedsHere(20); ++seed) {
    SCOPED_TRACE(seed);
    const auto rounds = Asks(seed);
    // The first follows the hello at once: connections begin when they begin.
    EXPECT_EQ(MostAtOnce(rounds[0], UpgradeTimes().first_pause), kClients);
    Duration pause = UpgradeTimes().first_pause;
    for (size_t round = 1; round < rounds.size(); ++round) {
      // Even over half a pause a tenth of that has 100; a quarter more is chance.
      EXPECT_LE(MostAtOnce(rounds[round], pause / 2), 2 * kClients / 10) << round;
      const auto [first, last] = std::minmax_element(rounds[round].begin(), rounds[round].end());
      EXPECT_GE(*last - *first, pause * 9 / 20) << round;
      pause = std::min(2 * pause, UpgradeTimes().longest_pause);
    }
  }
}

// Nor do two clients stay together, should they have met by chance.
TEST(UpgradeLockstepTest, ThoseThatMeetPart) {
  for (uint64_t seed = 1; seed <= SeedsHere(20); ++seed) {
    SCOPED_TRACE(seed);
    const auto rounds = Asks(seed);
    constexpr Duration kTogether = std::chrono::milliseconds(1);
    size_t pairs = 0;
    size_t still = 0;
    for (size_t i = 0; i + 1 < kClients; i += 2) {
      const auto together = [&](size_t round) {
        const Duration apart = rounds[round][i] - rounds[round][i + 1];
        return apart < kTogether && apart > -kTogether;
      };
      for (size_t round = 1; round + 1 < rounds.size(); ++round) {
        pairs += together(round);
        still += together(round) && together(round + 1);
      }
    }
    EXPECT_LE(still, 1 + pairs / 10) << pairs;
  }
}

}  // namespace
}  // namespace farcall
