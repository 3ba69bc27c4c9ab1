// SPDX-License-Identifier: Apache-2.0

#include "transport/link/upgrade/testing/rest_sim.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "absl/strings/str_cat.h"
#include "transport/link/upgrade/client_upgrade_machine.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr TimePoint kStart{std::chrono::hours(1)};
constexpr TimePoint kHealed = kStart + minutes(30);
constexpr Duration kLongestPause = seconds(60);
constexpr Duration kLongestRest = minutes(5);

// Where a rail can be, and what it was seen to do.
struct Place {
  Duration lasts{};  // about so long does a connection, until all are healed
  uint32_t generation = 0;
  TimePoint breaks = TimePoint::max();
  std::vector<TimePoint> errors;  // all of them
  size_t counted = 0;             // of those, before it was rested last
  TimePoint rested_until{};
  Duration rest{};

  // The rule: three errors within 10 s.
  void Count(TimePoint now) {
    errors.push_back(now);
    const size_t fresh = errors.size() - counted;
    if (fresh < 3 || now - errors[errors.size() - 3] >= seconds(10)) return;
    counted = errors.size();
    const bool again = rest > Duration::zero() && now - rested_until < kLongestRest;
    rest = again ? std::min<Duration>(2 * rest, kLongestRest) : Duration(seconds(30));
    rested_until = now + rest;
  }
};

class Sim {
 public:
  explicit Sim(uint64_t seed)
      : random_(seed),
        wanted_(2 + static_cast<uint32_t>(random_.Below(3))),
        places_(wanted_),
        client_(UpgradeTimes(), random_.Next(), wanted_) {
    // A flapping cable, one that seldom breaks, and what is between.
    constexpr Duration kLasts[] = {milliseconds(100), seconds(2), seconds(8), minutes(4),
                                   std::chrono::hours(9)};
    for (Place& place : places_) place.lasts = kLasts[random_.Below(5)];
  }

  std::string Run() {
    const TimePoint end = kHealed + kLongestRest + kLongestPause + seconds(10);
    while (now_ < end && wrong_.empty()) Step();
    if (wrong_.empty() && client_.state() != ClientUpgradeState::kReady) {
      wrong_ = absl::StrCat("only ", client_.rails(), " of ", wanted_, " are there when all hold");
    }
    return wrong_;
  }

 private:
  void Expect(bool holds, absl::string_view what) {
    if (holds || !wrong_.empty()) return;
    wrong_ = absl::StrCat(what, ", after ", (now_ - kStart) / milliseconds(1), " ms");
  }
  size_t Resting(TimePoint at) const {
    return static_cast<size_t>(std::count_if(
        places_.begin(), places_.end(), [&](const Place& one) { return one.rested_until > at; }));
  }
  size_t Missing() const { return wanted_ - client_.rails(); }

  void Step() {
    now_ += milliseconds(1 + random_.Below(200));
    for (Place& place : places_) {
      if (place.breaks <= now_) Break(place);
    }
    if (client_.OnTime(now_) == ClientUpgradeMachine::Do::kAsk) ConnectToOffer();
    CheckWait();
  }

  void Break(Place& place) {
    place.breaks = TimePoint::max();
    const uint32_t generation = std::exchange(place.generation, 0);
    place.Count(now_);
    lost_at_ = now_;
    client_.OnLost(now_, generation, NotRdma(WhyNotRdma::kBroken, ""));
  }

  // As a server offers them: first what no rail uses.
  void ConnectToOffer() {
    Expect(client_.rails() == 0 || Resting(now_) < Missing(), "one that rests is asked for");
    const uint32_t generation = client_.generation();
    Expect(client_.OnOffer(generation) == ClientUpgradeMachine::Do::kConnect,
           "an offer is dialled");
    std::vector<Place*> free;
    for (Place& place : places_) {
      if (place.generation == 0) free.push_back(&place);
    }
    Place& place = *free[random_.Below(free.size())];
    place.generation = generation;
    if (now_ < kHealed) {
      const auto lasts = static_cast<uint64_t>(place.lasts / milliseconds(1));
      place.breaks = now_ + milliseconds(lasts / 2 + random_.Below(lasts));
    }
    const auto name = absl::StrCat("mlx5_", &place - places_.data(), " port 1");
    client_.OnConnected(now_, generation, name);
  }

  // Whoever does not rest is asked for within the pause.
  void CheckWait() {
    const auto next = client_.next();
    if (!next) return Expect(Missing() == 0, "nothing is due, and one is missing");
    const TimePoint latest = std::max(lost_at_, kStart) + kLongestPause;
    if (client_.rails() == 0 || *next <= latest) {
      return Expect(*next <= latest, "the last one is not asked for again");
    }
    Expect(Resting(*next - milliseconds(1)) >= Missing(), "one that does not rest is waited with");
  }

  TestRandom random_;
  const uint32_t wanted_;
  std::vector<Place> places_;
  ClientUpgradeMachine client_;
  TimePoint now_ = kStart;
  TimePoint lost_at_ = kStart;
  std::string wrong_;
};

}  // namespace

std::string RunRestSim(uint64_t seed) { return Sim(seed).Run(); }

}  // namespace farcall
