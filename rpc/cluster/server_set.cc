// SPDX-License-Identifier: Apache-2.0

#include "rpc/cluster/server_set.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rpc/cluster/balance/balancer.h"
#include "rpc/cluster/balance/measures.h"
#include "rpc/cluster/balance/member.h"
#include "rpc/cluster/balance/pool.h"
#include "transport/base/check.h"
#include "transport/base/split_mix.h"

namespace farcall {
namespace {

// Calls that a mean latency covers: few, so that it follows a server that slows down.
constexpr uint32_t kLatencyCalls = 16;
constexpr uint32_t kTypicalCalls = 64;
// What a failure costs at least, in typical calls: else a server that fails at once would look
// like the fastest.
constexpr double kFailureCost = 10;

// What makes it the same server.
std::string KeyOf(const ServerNode& node) {
  const bool named = node.address.family() == AddressFamily::kNone;
  return absl::StrCat(named ? node.host : node.address.ToString(), " ", node.tag);
}

}  // namespace

struct ServerSet::Impl {
  Impl(const ChannelOptions& channel_options, uint64_t seed)
      : options(channel_options),
        random(seed),
        balancer(Balancer::Make(options.load_balancer, random)) {}

  Member* Find(ServerId id) { return index.Find(members, id); }
  std::vector<Member> Merge(std::vector<ServerNode> nodes, TimePoint now, Change& change,
                            bool& reweighted);
  void OnPoolChange();
  void Begin(Member& member, TimePoint now);
  void Apply(Member& member, Health::Change change, TimePoint now);
  void Close(Member& member, TimePoint now);
  void CloseBreakers(TimePoint now);
  void Judge(Member& member, TimePoint now);
  bool AnyUntried(std::span<const ServerId> tried) const;
  View ViewOf(const Member& member, TimePoint now) const;

  const ChannelOptions options;
  SplitMix random;
  std::unique_ptr<Balancer> balancer;
  std::vector<Member> members;
  MemberIndex index;
  Pool pool;
  MovingMean typical_cost;
  ServerId last_id = 0;
};

ServerSet::ServerSet(const ChannelOptions& options, uint64_t seed)
    : impl_(std::make_unique<Impl>(options, seed)) {}
ServerSet::~ServerSet() = default;

size_t ServerSet::size() const { return impl_->members.size(); }

// Those that stay, in their order, then the new ones: a resolver that shuffles its answers
// changes nothing.
std::vector<Member> ServerSet::Impl::Merge(std::vector<ServerNode> nodes, TimePoint now,
                                           Change& change, bool& reweighted) {
  std::map<std::string, ServerNode*> wanted;
  std::vector<std::pair<const std::string*, ServerNode*>> order;
  for (ServerNode& node : nodes) {
    const auto [at, is_new] = wanted.emplace(KeyOf(node), &node);
    if (is_new) order.emplace_back(&at->first, &node);
  }
  const bool first = members.empty();
  std::vector<Member> merged;
  merged.reserve(order.size());
  for (Member& member : members) {
    const auto at = wanted.find(member.key);
    if (at == wanted.end()) {
      change.removed.push_back(member.id);
      continue;
    }
    reweighted |= member.node.weight != at->second->weight;
    member.node = std::move(*at->second);
    at->second = nullptr;
    merged.push_back(std::move(member));
  }
  for (const auto& [key, node] : order) {
    if (wanted.at(*key) == nullptr) continue;
    Check(++last_id != 0, "fewer than 2^32 servers come and go");
    change.added.push_back({last_id, *node});
    merged.emplace_back(last_id, std::move(*node), *key, options);
    if (!first) Begin(merged.back(), now);
  }
  return merged;
}

ServerSet::Change ServerSet::Update(std::vector<ServerNode> nodes, TimePoint now) {
  Change change;
  bool reweighted = false;
  impl_->members = impl_->Merge(std::move(nodes), now, change, reweighted);
  if (change.added.empty() && change.removed.empty() && !reweighted) return change;
  impl_->index.Build(impl_->members);
  impl_->balancer->OnMembers(impl_->members);
  impl_->OnPoolChange();
  return change;
}

void ServerSet::Impl::OnPoolChange() {
  pool.Rebuild(members);
  balancer->OnPool(members, pool.members());
}

void ServerSet::Impl::Begin(Member& member, TimePoint now) {
  member.slow_start.Begin(now, std::chrono::milliseconds(options.slow_start_ms));
}

void ServerSet::Impl::Close(Member& member, TimePoint now) {
  member.breaker.Close(now);
  Begin(member, now);
  OnPoolChange();
}

void ServerSet::Impl::CloseBreakers(TimePoint now) {
  for (Member& member : members) {
    if (member.breaker.open() && now >= member.breaker.until()) Close(member, now);
  }
}

bool ServerSet::Impl::AnyUntried(std::span<const ServerId> tried) const {
  return std::any_of(pool.members().begin(), pool.members().end(), [&](uint32_t i) {
    return std::find(tried.begin(), tried.end(), members[i].id) == tried.end();
  });
}

std::optional<ServerSet::ServerId> ServerSet::Pick(std::optional<uint64_t> request_code,
                                                   std::span<const ServerId> tried, TimePoint now) {
  Impl& impl = *impl_;
  if (impl.members.size() == 1) return impl.members[0].id;
  if (impl.members.empty()) return std::nullopt;
  if (now >= impl.pool.next_return()) [[unlikely]]
    impl.CloseBreakers(now);
  if (!tried.empty() && !impl.AnyUntried(tried)) {
    if (!impl.pool.live()) {
      // No server lives: any other one is better than the same again.
      for (const Member& member : impl.members) {
        if (std::find(tried.begin(), tried.end(), member.id) == tried.end()) return member.id;
      }
    }
    tried = {};
  }
  const Choice choice{impl.members,
                      impl.pool.members(),
                      tried,
                      request_code,
                      now,
                      impl.pool.LargestShare(now),
                      impl.typical_cost.mean(),
                      impl.random};
  return impl.members[impl.balancer->Pick(choice)].id;
}

bool ServerSet::AnyUntried(std::span<const ServerId> tried) const {
  if (impl_->pool.live()) return impl_->AnyUntried(tried);
  return std::any_of(impl_->members.begin(), impl_->members.end(), [&](const Member& member) {
    return std::find(tried.begin(), tried.end(), member.id) == tried.end();
  });
}

void ServerSet::OnStart(ServerId id) {
  if (Member* const member = impl_->Find(id)) ++member->in_flight;
}

void ServerSet::OnEnd(ServerId id, Outcome outcome, Duration latency, TimePoint now) {
  Member* const member = impl_->Find(id);
  if (member == nullptr) return;
  Check(member->in_flight > 0, "OnEnd once for each OnStart");
  --member->in_flight;
  if (outcome == Outcome::kIgnored) return;
  const bool failed = outcome == Outcome::kFailure;
  const auto nanoseconds = static_cast<double>(latency.count());
  member->latency.Add(nanoseconds, kLatencyCalls);
  if (outcome == Outcome::kUnanswered) {
    return member->cost.Add(nanoseconds, now, impl_->typical_cost.mean());
  }
  member->breaker.OnEnd(failed, latency, now - latency);
  if (!failed && !member->health.up()) [[unlikely]] {
    impl_->Apply(*member, member->health.OnAnswer(now - latency, now), now);
  }
  if (impl_->members.size() == 1) return;

  MovingMean& typical = impl_->typical_cost;
  if (!failed) typical.Add(nanoseconds, kTypicalCalls);
  member->cost.Add(failed ? std::max(nanoseconds, kFailureCost * typical.mean()) : nanoseconds, now,
                   typical.mean());
  if (impl_->options.circuit_breaker.enabled) impl_->Judge(*member, now);
}

void ServerSet::Impl::Judge(Member& member, TimePoint now) {
  CircuitBreaker& breaker = member.breaker;
  if (!member.live() || !pool.one_more_may_break()) return;
  if (!breaker.failing()) {
    if (!breaker.latency_is_due()) return;
    const double median = pool.MedianLatencyBeside(member, members);
    if (median <= 0 || !breaker.slow(median)) return;
  }
  breaker.Open(now, random);
  OnPoolChange();
}

void ServerSet::Impl::Apply(Member& member, Health::Change change, TimePoint now) {
  if (change == Health::Change::kNone) return;
  if (change == Health::Change::kFell) member.slow_start.End();
  if (change == Health::Change::kBack) {
    Begin(member, now);
    // What failed as it fell, and while it was away, says nothing of what is there now.
    member.breaker.Forget(now);
  }
  OnPoolChange();
  if (!member.health.up() || !member.breaker.open()) return;
  // What was away was judged before. What only lost a connection stays out, unless others were
  // taken out meanwhile and it would be one too many.
  if (change == Health::Change::kBack || pool.too_many_are_broken()) Close(member, now);
}

void ServerSet::OnUnreachable(ServerId id, TimePoint now) {
  Member* const member = impl_->Find(id);
  if (member == nullptr) return;
  impl_->Apply(*member, member->health.OnUnreachable(now, impl_->random), now);
}

void ServerSet::OnLeaving(ServerId id, TimePoint now) {
  Member* const member = impl_->Find(id);
  if (member == nullptr) return;
  impl_->Apply(*member, member->health.OnLeaving(now, impl_->random), now);
}

void ServerSet::OnProbe(ServerId id, bool ok, TimePoint now) {
  Member* const member = impl_->Find(id);
  if (member == nullptr) return;
  impl_->Apply(*member, member->health.OnProbe(ok, now, impl_->random), now);
}

std::vector<ServerSet::ServerId> ServerSet::DueProbes(TimePoint now) {
  std::vector<ServerId> due;
  for (Member& member : impl_->members) {
    if (member.health.TakeProbe(now)) due.push_back(member.id);
  }
  return due;
}

std::optional<TimePoint> ServerSet::next_event() const {
  std::optional<TimePoint> next;
  for (const Member& member : impl_->members) {
    const std::optional<TimePoint> probe = member.health.next_probe();
    if (probe && (!next || *probe < *next)) next = probe;
  }
  return next;
}

ServerSet::View ServerSet::Impl::ViewOf(const Member& member, TimePoint now) const {
  View view;
  view.id = member.id;
  view.node = member.node;
  view.in_flight = member.in_flight;
  view.error_rate = member.breaker.error_rate();
  view.latency = Duration(static_cast<Duration::rep>(member.latency.mean()));
  if (!member.health.up()) {
    view.state = View::State::kDown;
    view.next_try = member.health.next_probe();
  } else if (member.breaker.open() && now < member.breaker.until()) {
    view.state = View::State::kBroken;
    view.next_try = member.breaker.until();
  } else if (!member.slow_start.over(now)) {
    view.state = View::State::kSlowStart;
  }
  return view;
}

std::vector<ServerSet::View> ServerSet::Views(TimePoint now) const {
  std::vector<View> views;
  views.reserve(impl_->members.size());
  for (const Member& member : impl_->members) views.push_back(impl_->ViewOf(member, now));
  return views;
}

}  // namespace farcall
