// SPDX-License-Identifier: Apache-2.0

#include "rpc/cluster/balance/testing/set_sim.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "rpc/cluster/balance/testing/set_world.h"
#include "rpc/cluster/balance/testing/shares.h"
#include "rpc/cluster/retry_budget.h"
#include "rpc/cluster/server_set.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using Outcome = ServerSet::Outcome;
using ServerId = ServerSet::ServerId;

constexpr Duration kStep = microseconds(500);
constexpr Duration kLongStep = milliseconds(5);
constexpr Duration kTimeout = milliseconds(50);
constexpr int kSteps = 600;

class Sim {
 public:
  Sim(uint64_t seed, SetSimStats& stats)
      : random_(seed),
        options_(RandomOptions(random_)),
        machines_(RandomMachines(random_)),
        set_(options_, random_.Next()),
        judge_(set_, options_),
        budget_(options_.retry_budget),
        stats_(stats) {}

  std::string Run() {
    Update();
    for (int i = 0; i < kSteps && wrong_.empty(); ++i) {
      if (random_.Chance(0.02)) Change();
      Step(kStep);
    }
    if (wrong_.empty()) Recover();
    if (wrong_.empty()) CheckEnd();
    return wrong_;
  }

 private:
  struct Attempt {
    ServerId server;
    int machine;
    TimePoint began;
    TimePoint ends;
    Outcome outcome;
    std::vector<ServerId> tried;  // of its call, with this one
  };

  void Expect(std::string wrong) {
    if (wrong_.empty() && !wrong.empty()) wrong_ = std::move(wrong);
  }
  Machine& Any() { return machines_[random_.Below(machines_.size())]; }
  int NumberOf(const Machine& machine) { return static_cast<int>(&machine - machines_.data()); }

  void Update() {
    // At least one: an empty set is seen in other tests.
    if (std::none_of(machines_.begin(), machines_.end(), [](auto& m) { return m.listed; })) {
      machines_[0].listed = true;
    }
    Expect(judge_.OnUpdate(set_.Update(Listed(machines_, random_), now_), machines_));
  }

  void Change() {
    Machine& machine = Any();
    switch (random_.Below(7)) {
      case 0:
        machine.alive = true;
        machine.fails = 0;
        machine.slow = 1;
        break;
      case 1:
        machine.alive = false;
        return Break(NumberOf(machine), /*all=*/true);
      case 2:
        return Break(NumberOf(machine), /*all=*/false);
      case 3:
        machine.fails = 0.25 * static_cast<double>(random_.Below(5));
        break;
      case 4:
        machine.slow = random_.Chance(0.5) ? 1 : 20;
        break;
      case 5:
        machine.listed = !machine.listed;
        machine.node.weight = static_cast<int>(1 + random_.Below(5));
        return Update();
      default:
        if (const auto server = judge_.ServerOf(NumberOf(machine))) {
          set_.OnLeaving(*server, now_);
          judge_.OnDown(*server, now_);
        }
    }
  }

  // One connection to it breaks, with some of its calls, or all do.
  void Break(int machine, bool all) {
    const std::optional<ServerId> server = judge_.ServerOf(machine);
    for (Attempt& attempt : attempts_) {
      if (attempt.machine != machine || !(all || random_.Chance(0.3))) continue;
      attempt.outcome = Outcome::kFailure;
      attempt.ends = now_;
    }
    if (!server) return;
    set_.OnUnreachable(*server, now_);
    judge_.OnDown(*server, now_);
  }

  void Step(Duration step) {
    now_ += step;
    EndAttempts();
    EndProbes();
    BeginProbes();
    const uint64_t calls = random_.Below(4);
    for (uint64_t i = 0; i < calls; ++i) {
      ++stats_.calls;
      budget_.OnCall(now_);
      ++window_calls_;
      Begin({});
    }
    Expect(judge_.CheckViews(now_));
  }

  void Begin(std::vector<ServerId> tried) {
    const std::vector<ServerSet::View> before = set_.Views(now_);
    Count(before);
    std::optional<uint64_t> code;
    if (random_.Chance(0.5)) code = random_.Below(1000);
    const std::optional<ServerId> server = set_.Pick(code, tried, now_);
    Expect(judge_.CheckPick(server, tried, before));
    if (!wrong_.empty()) return;
    tried.push_back(*server);
    const int number = *judge_.MachineOf(*server);
    const Machine& machine = machines_[static_cast<size_t>(number)];
    set_.OnStart(*server);
    judge_.OnStart(*server);
    Attempt attempt{*server, number, now_, now_, Outcome::kSuccess, std::move(tried)};
    if (!machine.alive) {
      attempt.outcome = Outcome::kFailure;
      attempt.ends += random_.Chance(0.5) ? kStep : kTimeout;
    } else {
      const auto usual = milliseconds(1) * (0.5 + static_cast<double>(random_.Below(100)) / 100);
      attempt.ends += std::chrono::duration_cast<Duration>(usual * machine.slow);
      if (random_.Chance(machine.fails)) attempt.outcome = Outcome::kFailure;
      if (random_.Chance(0.02)) attempt.outcome = Outcome::kIgnored;
    }
    attempts_.push_back(std::move(attempt));
  }

  void EndAttempts() {
    for (size_t left = attempts_.size(); left > 0; --left) {
      Attempt attempt = std::move(attempts_.front());
      attempts_.pop_front();
      if (attempt.ends > now_) {
        attempts_.push_back(std::move(attempt));
        continue;
      }
      set_.OnEnd(attempt.server, attempt.outcome, now_ - attempt.began, now_);
      judge_.OnEnd(attempt.server, attempt.outcome, attempt.began, now_);
      if (!machines_[static_cast<size_t>(attempt.machine)].alive) {
        set_.OnUnreachable(attempt.server, now_);
        judge_.OnDown(attempt.server, now_);
      }
      if (attempt.outcome == Outcome::kFailure) Retry(std::move(attempt.tried));
    }
  }

  void Retry(std::vector<ServerId> tried) {
    if (now_ - window_began_ >= std::chrono::seconds(10)) {
      window_began_ = now_;
      window_calls_ = window_retries_ = 0;
    }
    if (tried.size() > 3) return;
    if (!budget_.Take(now_)) {
      ++stats_.refused_retries;
      return;
    }
    ++stats_.retries;
    ++window_retries_;
    const double most = options_.retry_budget * window_calls_ + 10 * 11;
    if (window_retries_ > most) Expect("more retries than the budget gives");
    Begin(std::move(tried));
  }

  void BeginProbes() {
    Expect(judge_.CheckNextEvent(now_));
    const std::optional<TimePoint> next = set_.next_event();
    const std::vector<ServerId> due = set_.DueProbes(now_);
    if (due.empty() == (next && *next <= now_)) Expect("next_event and DueProbes differ");
    for (const ServerId id : due) {
      ++stats_.probes;
      Expect(judge_.CheckProbe(id, now_));
      probes_.emplace(now_ + microseconds(random_.Below(20'000)), id);
    }
  }

  void EndProbes() {
    while (!probes_.empty() && probes_.begin()->first <= now_) {
      const ServerId id = probes_.begin()->second;
      probes_.erase(probes_.begin());
      const std::optional<int> machine = judge_.MachineOf(id);
      const bool ok = machine && machines_[static_cast<size_t>(*machine)].alive;
      set_.OnProbe(id, ok, now_);
      judge_.OnProbe(id, ok, now_);
    }
  }

  void Count(const std::vector<ServerSet::View>& views) {
    bool lives = false;
    for (const ServerSet::View& view : views) {
      stats_.broken += view.state == ServerSet::View::State::kBroken;
      stats_.slow += view.state == ServerSet::View::State::kSlowStart;
      lives |= view.state == ServerSet::View::State::kServing ||
               view.state == ServerSet::View::State::kSlowStart;
    }
    if (!lives) ++stats_.none_lives;
  }

  // All machines are well from now on: so must be what the set thinks of them.
  void Recover() {
    for (Machine& machine : machines_) {
      machine.alive = true;
      machine.fails = 0;
      machine.slow = 1;
    }
    const int64_t most = options_.longest_health_check_interval_ms +
                         options_.circuit_breaker.longest_pause_ms + options_.slow_start_ms;
    const TimePoint until = now_ + milliseconds(most) + 20 * kTimeout;
    while (now_ < until && wrong_.empty()) Step(kLongStep);
    while (!attempts_.empty()) {
      now_ += kStep;
      EndAttempts();
    }
    if (!wrong_.empty()) return;
    for (const ServerSet::View& view : set_.Views(now_)) {
      if (view.state == ServerSet::View::State::kServing && view.in_flight == 0) continue;
      return Expect(absl::StrCat("server ", view.id, " does not come back: state ",
                                 static_cast<int>(view.state), ", in flight ", view.in_flight));
    }
  }

  void CheckEnd() {
    // What la knew of slow times fades.
    CountCalls(set_, set_.Views(now_), 1000, now_, milliseconds(10));
    Expect(CheckShares(set_, options_.load_balancer, now_));
    if (options_.load_balancer == "c_hash") Expect(CheckSameCodes(set_, options_, now_));
  }

  TestRandom random_;
  const ChannelOptions options_;
  std::vector<Machine> machines_;
  TimePoint now_{std::chrono::seconds(100)};
  ServerSet set_;
  SetJudge judge_;
  RetryBudget budget_;
  SetSimStats& stats_;
  std::deque<Attempt> attempts_;
  std::multimap<TimePoint, ServerId> probes_;
  TimePoint window_began_ = now_;
  int window_calls_ = 0;
  int window_retries_ = 0;
  std::string wrong_;
};

}  // namespace

std::string RunSetSim(uint64_t seed, SetSimStats& stats) { return Sim(seed, stats).Run(); }

}  // namespace farcall
