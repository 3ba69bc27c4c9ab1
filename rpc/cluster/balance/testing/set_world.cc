// SPDX-License-Identifier: Apache-2.0

#include "rpc/cluster/balance/testing/set_world.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace farcall {
namespace {

using State = ServerSet::View::State;

bool Lives(const ServerSet::View& view) {
  return view.state == State::kServing || view.state == State::kSlowStart;
}

}  // namespace

ServerNode NodeOf(int number, int weight) {
  ServerNode node;
  node.address = Address::Ipv4({10, 0, 0, 1}, static_cast<uint16_t>(number + 1));
  node.weight = weight;
  return node;
}

std::vector<Machine> RandomMachines(TestRandom& random) {
  std::vector<Machine> machines(1 + random.Below(random.Chance(0.3) ? 3 : 10));
  for (size_t i = 0; i < machines.size(); ++i) {
    machines[i].node = NodeOf(static_cast<int>(i), static_cast<int>(1 + random.Below(5)));
  }
  return machines;
}

ChannelOptions RandomOptions(TestRandom& random) {
  static constexpr const char* kNames[] = {"rr", "random", "wrr", "wr", "c_hash", "la"};
  ChannelOptions options;
  options.load_balancer = kNames[random.Below(std::size(kNames))];
  options.health_check_interval_ms = static_cast<int64_t>(10 + random.Below(100));
  options.longest_health_check_interval_ms = options.health_check_interval_ms * 8;
  options.slow_start_ms = random.Chance(0.3) ? 0 : static_cast<int64_t>(random.Below(1000));
  CircuitBreakerOptions& breaker = options.circuit_breaker;
  breaker.enabled = random.Chance(0.7);
  breaker.error_rate = 0.3 + 0.1 * static_cast<double>(random.Below(5));
  breaker.window_calls = static_cast<int>(10 + random.Below(30));
  breaker.latency_factor = random.Chance(0.5) ? 0 : 5;
  breaker.first_pause_ms = static_cast<int64_t>(20 + random.Below(200));
  breaker.longest_pause_ms = breaker.first_pause_ms * 4;
  options.retry_budget = 0.1 * static_cast<double>(random.Below(5));
  return options;
}

std::vector<ServerNode> Listed(const std::vector<Machine>& machines, TestRandom& random) {
  std::vector<ServerNode> nodes;
  for (const Machine& machine : machines) {
    if (machine.listed) nodes.push_back(machine.node);
    if (machine.listed && random.Chance(0.1)) nodes.push_back(machine.node);
  }
  random.Shuffle(nodes);
  return nodes;
}

std::string SetJudge::OnUpdate(const ServerSet::Change& change,
                               const std::vector<Machine>& machines) {
  for (const ServerId id : change.removed) {
    fewer_ = true;
    if (servers_.erase(id) != 1) return absl::StrCat("server ", id, " was removed twice");
  }
  for (const ServerSet::Server& server : change.added) {
    if (server.id <= last_id_) return absl::StrCat("id ", server.id, " was used twice");
    last_id_ = server.id;
    const int machine = server.node.address.port() - 1;
    if (ServerOf(machine)) return absl::StrCat("machine ", machine, " is there twice");
    servers_[server.id].machine = machine;
  }
  for (const auto& [id, known] : servers_) {
    if (!machines[static_cast<size_t>(known.machine)].listed) {
      return absl::StrCat("machine ", known.machine, " is not listed, and not removed");
    }
  }
  const auto listed =
      std::count_if(machines.begin(), machines.end(), [](const Machine& m) { return m.listed; });
  if (set_.size() != servers_.size() || set_.size() != static_cast<size_t>(listed)) {
    return absl::StrCat(listed, " servers are listed, and ", set_.size(), " there");
  }
  return "";
}

void SetJudge::OnEnd(ServerId id, ServerSet::Outcome outcome, TimePoint began, TimePoint) {
  const auto at = servers_.find(id);
  if (at == servers_.end()) return;
  Known& known = at->second;
  --known.in_flight;
  if (outcome == ServerSet::Outcome::kSuccess && known.down && began > known.fell_at) {
    known.down = false;
  }
}

void SetJudge::OnDown(ServerId id, TimePoint now) {
  const auto at = servers_.find(id);
  if (at == servers_.end() || at->second.down) return;
  Known& known = at->second;
  fewer_ = true;
  known.down = true;
  known.probes = 0;
  known.fell_at = known.probed_at = now;
}

void SetJudge::OnProbe(ServerId id, bool ok, TimePoint now) {
  const auto at = servers_.find(id);
  if (at == servers_.end()) return;
  Known& known = at->second;
  known.probing = false;
  if (!known.down) return;
  if (ok) known.down = false;
  ++known.probes;
  known.probed_at = now;
}

std::string SetJudge::CheckPick(std::optional<ServerId> picked, const std::vector<ServerId>& tried,
                                const std::vector<ServerSet::View>& before) const {
  if (before.empty()) return picked ? "picked of none" : "";
  if (!picked || servers_.count(*picked) == 0) return "picked none that is there";
  const auto is_tried = [&tried](ServerId id) {
    return std::find(tried.begin(), tried.end(), id) != tried.end();
  };
  bool lives = false, untried = false, untried_lives = false, broken = false;
  State state = State::kDown;
  for (const ServerSet::View& view : before) {
    lives |= Lives(view);
    untried |= !is_tried(view.id);
    untried_lives |= Lives(view) && !is_tried(view.id);
    broken |= view.state == State::kBroken;
    if (view.id == *picked) state = view.state;
  }
  const bool picked_lives = state == State::kServing || state == State::kSlowStart;
  if (before.size() > 1) {
    if (lives && !picked_lives) return absl::StrCat("picked ", *picked, ", which does not live");
    if ((untried_lives || (!lives && untried)) && is_tried(*picked)) return "picked a tried one";
    if (!lives && broken && tried.empty() && state == State::kDown) {
      return "picked one that is down rather than one that can be reached";
    }
  }
  return "";
}

std::string SetJudge::CheckNextEvent(TimePoint now) const {
  const std::optional<TimePoint> next = set_.next_event();
  bool awaited = false;
  for (const auto& [id, known] : servers_) awaited |= known.down && !known.probing;
  if (awaited != next.has_value()) return "next_event is not that of the servers that are down";
  const Duration longest = std::chrono::milliseconds(options_.longest_health_check_interval_ms);
  if (next && *next > now + longest) return "the next probe is too far away";
  return "";
}

Duration SetJudge::Pause(int probes) const {
  const Duration first = std::chrono::milliseconds(options_.health_check_interval_ms);
  const Duration longest = std::chrono::milliseconds(options_.longest_health_check_interval_ms);
  if (probes == 0) return Duration::zero();
  return std::min(longest, first * (1 << std::min(probes - 1, 16))) * 3 / 4;
}

std::string SetJudge::CheckProbe(ServerId id, TimePoint now) {
  const auto at = servers_.find(id);
  if (at == servers_.end()) return "a server that is gone is probed";
  Known& known = at->second;
  if (!known.down) return absl::StrCat("server ", id, " is probed, and not down");
  if (known.probing) return absl::StrCat("server ", id, " is probed twice at once");
  if (now < known.probed_at + Pause(known.probes)) {
    return absl::StrCat("server ", id, " is probed before its pause is over");
  }
  known.probing = true;
  return "";
}

std::string SetJudge::CheckViews(TimePoint now) {
  size_t broken = 0, reachable = 0, were_broken = 0;
  const std::vector<ServerSet::View> views = set_.Views(now);
  for (const ServerSet::View& view : views) {
    Known& known = servers_.at(view.id);
    if (view.in_flight != known.in_flight) {
      return absl::StrCat("server ", view.id, " has ", known.in_flight, " calls in flight, not ",
                          view.in_flight);
    }
    if ((view.state == State::kDown) != known.down) {
      return absl::StrCat("server ", view.id, known.down ? " is down" : " is not down");
    }
    if (view.error_rate < 0 || view.error_rate > 1) return "the error rate is none";
    if (known.down) continue;
    ++reachable;
    if (view.state == State::kBroken) ++broken;
    if (view.state == State::kBroken && known.broken) ++were_broken;
  }
  for (const ServerSet::View& view : views) {
    servers_.at(view.id).broken = view.state == State::kBroken;
  }
  // Of those that could be reached when it did so.
  const bool fewer = std::exchange(fewer_, false);
  if (broken > were_broken && broken * 2 > reachable && !fewer) {
    return "the breaker takes out more than half";
  }
  return "";
}

std::optional<int> SetJudge::MachineOf(ServerId id) const {
  const auto at = servers_.find(id);
  return at == servers_.end() ? std::nullopt : std::optional(at->second.machine);
}

std::optional<SetJudge::ServerId> SetJudge::ServerOf(int machine) const {
  for (const auto& [id, known] : servers_) {
    if (known.machine == machine) return id;
  }
  return std::nullopt;
}

}  // namespace farcall
