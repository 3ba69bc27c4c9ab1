// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/choice/adapter_choice.h"

#include <algorithm>
#include <compare>
#include <set>
#include <tuple>
#include <utility>

#include "transport/base/check.h"
#include "transport/rdma/choice/choice_words.h"
#include "transport/rdma/choice/fabric.h"

namespace farcall {
namespace {

static_assert(kNoFabric > static_cast<int>(Fabric::kRoutes));

// FNV-1a, mixed once more: the next seed changes every bit.
uint64_t Chance(uint64_t seed, absl::string_view name, uint8_t port) {
  uint64_t hash = 0xcbf29ce484222325 ^ seed;
  for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  hash = (hash ^ port) * 0x100000001b3;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  return hash ^ (hash >> 31);
}

absl::string_view Bytes(const std::array<uint8_t, 16>& name) {
  return {reinterpret_cast<const char*>(name.data()), name.size()};
}

// All ends, and what is compared.
class Choice {
 public:
  Choice(const std::vector<OwnEnd>& own, const std::vector<OfferedEnd>& offered,
         const ChoiceCircumstances& circumstances)
      : own_(own), offered_(offered), circumstances_(circumstances) {
    for (const OwnEnd& end : own) best_rate_ = std::max(best_rate_, end.usable ? end.rate : 0);
    for (const OfferedEnd& end : offered) best_rate_ = std::max(best_rate_, end.rate);
    for (const RailPorts& rail : circumstances.rails) {
      rails_fabric_ = std::min(rails_fabric_, rail.fabric);
    }
    for (size_t to = 0; to < offered.size(); ++to) AddCandidates(to);
    if (MustBeApart()) KeepApart();
  }

  std::vector<AdapterPair> Choose() {
    std::vector<AdapterPair> pairs;
    std::vector<Candidate> chosen;
    while (!candidates_.empty()) {
      const auto best = std::min_element(
          candidates_.begin(), candidates_.end(),
          [](const auto& one, const auto& other) { return one.rank < other.rank; });
      chosen.push_back(*best);
      std::erase_if(candidates_,
                    [to = best->offered](const auto& other) { return other.offered == to; });
      for (Candidate& left : candidates_) left.rank.uses += SharesPort(left, chosen.back());
    }
    if (!MustBeApart()) AddRoute(chosen);
    for (const Candidate& one : chosen) {
      const OwnEnd* const end = one.own ? &own_[*one.own] : nullptr;
      pairs.push_back({one.own, one.offered, one.rank.fabric,
                       DescribePair(end, offered_[one.offered], one.rank, chosen.front().rank)});
    }
    return pairs;
  }

 private:
  struct Candidate {
    std::optional<size_t> own;
    size_t offered = 0;
    ChoiceRank rank;
  };

  // Of each port of this host that may reach it the best end; or none, for rdma_cm.
  void AddCandidates(size_t to) {
    const OfferedEnd& place = offered_[to];
    std::vector<Reach> best;
    bool is_here = false;
    for (size_t from = 0; from < own_.size(); ++from) {
      const OwnEnd& end = own_[from];
      is_here |= !place.gid && !end.gid && end.name == place.name;
      if (const auto fabric = FabricOf(end, place)) KeepBest({from, *fabric}, place, best);
    }
    if (is_here) best.clear();  // packets to an own address take the kernel's way
    for (const auto& [from, fabric] : best) {
      candidates_.push_back({from, to, RankOf(&own_[from], place, static_cast<int>(fabric))});
    }
    if (!best.empty() || place.gid) return;
    candidates_.push_back({std::nullopt, to, RankOf(nullptr, place, is_here ? 0 : kNoFabric)});
  }

  using Reach = std::pair<size_t, Fabric>;

  void KeepBest(const Reach& reach, const OfferedEnd& place, std::vector<Reach>& best) const {
    const OwnEnd& end = own_[reach.first];
    // Networks that are not known to be the same are the likelier the same the nearer the names.
    const auto order = [&](const Reach& one) {
      const OwnEnd& from = own_[one.first];
      const int common = one.second == Fabric::kRoutes ? CommonBits(from, place) : 0;
      return std::make_tuple(one.second, -common, from.preference, from.name);
    };
    for (Reach& other : best) {
      if (own_[other.first].device != end.device || own_[other.first].port != end.port) continue;
      if (order(reach) < order(other)) other = reach;
      return;
    }
    best.push_back(reach);
  }

  ChoiceRank RankOf(const OwnEnd* own, const OfferedEnd& place, int fabric) const {
    ChoiceRank rank;
    rank.failures = circumstances_.failures(own, place);
    rank.over_tcp = place.gid.has_value();
    rank.fabric = fabric;
    rank.rails = RailsOver(own, place) + (fabric > rails_fabric_ ? kWorse : 0);
    const double there = ShareOf(RateOf(place), place.connections.value_or(0), /*far=*/false);
    double here = there;
    uint32_t rate = RateOf(place);
    if (own != nullptr) {
      rank.far = IsFar(own->numa_node, circumstances_.loop_node);
      here = ShareOf(RateOf(*own), own->connections.value_or(0), rank.far);
      rate = std::min(rate, RateOf(*own));
      rank.own_chance = Chance(circumstances_.seed, own->device, own->port);
      rank.own_name = Bytes(own->name);
    }
    rank.share = -std::min(here, there);
    rank.rate = -static_cast<int64_t>(rate);
    rank.other_share = -std::max(here, there);
    if (place.connections) rank.turn = place.turn;
    rank.offered_chance = Chance(~circumstances_.seed, place.device, 0);
    rank.offered_name = Bytes(place.name);
    return rank;
  }

  uint32_t RateOf(const PortEnd& end) const {
    if (end.rate > 0) return end.rate;
    return std::max(best_rate_, 1u);
  }

  // A further rail, which may only be over ports that the others do not use.
  bool MustBeApart() const { return circumstances_.apart && !circumstances_.rails.empty(); }

  void KeepApart() {
    int best = kNoFabric;
    for (const Candidate& one : candidates_) best = std::min(best, one.rank.fabric);
    std::erase_if(candidates_, [best](const Candidate& one) {
      return one.rank.rails > 0 || one.rank.fabric > best || one.rank.fabric == kNoFabric;
    });
  }

  // Ends of rails over the ports of this way.
  int RailsOver(const OwnEnd* own, const OfferedEnd& place) const {
    int uses = 0;
    for (const RailPorts& rail : circumstances_.rails) {
      uses += !rail.peer_device.empty() && rail.peer_device == place.device ? 1 : 0;
      uses += own != nullptr && rail.own == PortName(own->device, own->port) ? 1 : 0;
    }
    return uses;
  }

  int SharesPort(const Candidate& one, const Candidate& other) const {
    int uses = offered_[one.offered].device == offered_[other.offered].device ? 1 : 0;
    if (!one.own || !other.own) return uses;
    const OwnEnd& first = own_[*one.own];
    const OwnEnd& second = own_[*other.own];
    return uses + (first.device == second.device && first.port == second.port ? 1 : 0);
  }

  // Behind the ways by rdma_cm, since what is known here of routes may be wrong.
  void AddRoute(std::vector<Candidate>& chosen) const {
    const auto by_cm = [&](const Candidate& one) { return !offered_[one.offered].gid; };
    const auto first = std::find_if(chosen.begin(), chosen.end(), by_cm);
    if (first == chosen.end() || !first->own) return;
    std::set<std::pair<absl::string_view, uint8_t>> ports;
    for (const OwnEnd& end : own_) {
      if (end.usable && !end.gid) ports.emplace(end.device, end.port);
    }
    if (ports.size() < 2) return;
    const OfferedEnd& place = offered_[first->offered];
    const Candidate route{std::nullopt, first->offered, RankOf(nullptr, place, kNoFabric)};
    const auto last = std::find_if(chosen.rbegin(), chosen.rend(), by_cm);
    chosen.insert(last.base(), route);
  }

  const std::vector<OwnEnd>& own_;
  const std::vector<OfferedEnd>& offered_;
  const ChoiceCircumstances& circumstances_;
  // Of ways over a worse fabric than the rails', more than any ports are used.
  static constexpr int kWorse = 1000;
  int rails_fabric_ = kNoFabric;  // the best
  uint32_t best_rate_ = 0;
  std::vector<Candidate> candidates_;
};

}  // namespace

double ShareOf(uint32_t rate, uint32_t connections, bool far) {
  // Of equal quotients the same number comes, since each is rounded to the nearest.
  return static_cast<double>(rate) / (static_cast<double>(connections) + 1) / (far ? 2 : 1);
}

bool IsFar(int numa_node, int loop_node) {
  return numa_node >= 0 && loop_node >= 0 && numa_node != loop_node;
}

std::vector<AdapterPair> ChooseAdapters(const std::vector<OwnEnd>& own,
                                        const std::vector<OfferedEnd>& offered,
                                        const ChoiceCircumstances& circumstances) {
  return Choice(own, offered, circumstances).Choose();
}

}  // namespace farcall
