// SPDX-License-Identifier: Apache-2.0

#include "rpc/cluster/balance/balancer.h"

#include <algorithm>

#include "rpc/cluster/balance/consistent_hash.h"
#include "rpc/cluster/balance/weighted_round_robin.h"
#include "transport/base/check.h"

namespace farcall {
namespace {

// "random".
class UniformRandom final : public Balancer {
 public:
  uint32_t Pick(const Choice& choice) override { return choice.Draw(); }
};

// "rr": one after the other, from one at random, lest all clients begin with the same. What a
// server may not have, being tried or slow, goes to any other at random: were it
// always the next in the row, that one would carry double.
class RoundRobin final : public Balancer {
 public:
  explicit RoundRobin(SplitMix& random) : next_(random.Below(1u << 16)) {}

  uint32_t Pick(const Choice& choice) override {
    const auto size = static_cast<uint32_t>(choice.pool.size());
    if (next_ >= size) next_ %= size;
    const uint32_t index = choice.pool[next_++];
    return !choice.Tried(index) && choice.TakeIfNotSlow(index) ? index : choice.Draw();
  }

 private:
  uint32_t next_;  // in the pool
};

// "wr": at random by weight.
class WeightedRandom final : public Balancer {
 public:
  void OnPool(const std::vector<Member>& members, const std::vector<uint32_t>& pool) override {
    sums_.clear();
    sums_.reserve(members.size());
    uint64_t sum = 0;
    for (const uint32_t index : pool) {
      sum += static_cast<uint64_t>(members[index].node.weight);
      sums_.push_back(sum);
    }
  }
  uint32_t Pick(const Choice& choice) override {
    if (!choice.tried.empty()) return choice.DrawByWeight();
    const auto all = static_cast<double>(sums_.back());
    uint32_t index = 0;
    for (int i = 0; i < Choice::kProposals; ++i) {
      const auto at = static_cast<uint64_t>(choice.random.Unit() * all);
      const auto sum = std::upper_bound(sums_.begin(), sums_.end() - 1, at);
      index = choice.pool[static_cast<size_t>(sum - sums_.begin())];
      if (choice.TakeIfNotSlow(index)) return index;
    }
    return index;
  }

 private:
  std::vector<uint64_t> sums_;  // of the weights of the pool up to and with each
};

// "la": of two at random, the one where the call would be over sooner: its latency, times the
// calls that it has and this one. Two, and not the best of all: the best of all would be that of
// all clients.
class LeastLatency final : public Balancer {
 public:
  uint32_t Pick(const Choice& choice) override {
    const uint32_t one = choice.Draw();
    if (choice.pool.size() <= choice.tried.size() + 1) return one;
    uint32_t other = one;
    for (int i = 0; i < Choice::kProposals && other == one; ++i) other = choice.Draw();
    return Score(choice, one) <= kSame * Score(choice, other) ? one : other;
  }

 private:
  // What is less than so many times another is the same: noise would else decide, and who
  // lost by it would get no call to show better.
  static constexpr double kSame = 1.25;

  static double Score(const Choice& choice, uint32_t index) {
    const Member& member = choice.members[index];
    const double cost = member.cost.At(choice.now, choice.typical_cost);
    // Below a nanosecond nothing is known either, and the calls in flight must still count.
    return std::max(cost, 1.0) * (member.in_flight + 1);
  }
};

}  // namespace

uint32_t Choice::Draw() const {
  const auto size = static_cast<uint32_t>(pool.size());
  for (int i = 0; i < kProposals; ++i) {
    const uint32_t index = pool[random.Below(size)];
    if (!Tried(index) && TakeIfNotSlow(index)) return index;
  }
  const uint32_t from = random.Below(size);
  for (uint32_t i = 0; i < size; ++i) {
    const uint32_t index = pool[(from + i) % size];
    if (!Tried(index)) return index;
  }
  Check(false, "one of the pool was not tried");
  return 0;
}

uint32_t Choice::DrawByWeight() const {
  const auto part = [this](uint32_t index) {
    return Tried(index) ? 0 : members[index].node.weight * Share(index);
  };
  double sum = 0;
  for (const uint32_t index : pool) sum += part(index);
  double at = random.Unit() * sum;
  uint32_t last = 0;
  for (const uint32_t index : pool) {
    const double mine = part(index);
    if (mine == 0) continue;
    last = index;
    if (at < mine) break;
    at -= mine;
  }
  return last;
}

std::unique_ptr<Balancer> Balancer::Make(const std::string& name, SplitMix& random) {
  if (name == "random") return std::make_unique<UniformRandom>();
  if (name == "wrr") return std::make_unique<WeightedRoundRobin>(random);
  if (name == "wr") return std::make_unique<WeightedRandom>();
  if (name == "la") return std::make_unique<LeastLatency>();
  if (name == "c_hash" || name == "c_murmurhash" || name == "c_md5" || name == "c_ketama") {
    return std::make_unique<ConsistentHash>();
  }
  Check(name == "rr", "the options were validated");
  return std::make_unique<RoundRobin>(random);
}

}  // namespace farcall
