// SPDX-License-Identifier: Apache-2.0

#include "rpc/cluster/balance/consistent_hash.h"

#include <xxhash.h>

#include <algorithm>
#include <tuple>

#include "transport/base/check.h"

namespace farcall {
namespace {

constexpr uint64_t kPointsPerWeight = 128;
constexpr uint64_t kMaxPoints = 1024;
// Points that are passed in search of one whose member may have the code. Enough but where most
// members are down.
constexpr size_t kWalk = 256;

uint64_t Mix(uint64_t code, uint64_t seed) {
  return XXH3_64bits_withSeed(&code, sizeof(code), seed);
}

}  // namespace

void ConsistentHash::OnMembers(const std::vector<Member>& members) {
  uint64_t largest = 1;
  for (const Member& member : members) {
    largest = std::max(largest, static_cast<uint64_t>(member.node.weight));
  }
  int halvings = 0;
  while ((largest * kPointsPerWeight) >> halvings > kMaxPoints) ++halvings;

  ring_.clear();
  identity_.clear();
  for (uint32_t i = 0; i < members.size(); ++i) {
    const std::string& key = members[i].key;
    identity_.push_back(XXH3_64bits(key.data(), key.size()));
    const uint64_t points =
        (static_cast<uint64_t>(members[i].node.weight) * kPointsPerWeight) >> halvings;
    for (uint64_t point = 0; point < std::max<uint64_t>(points, 1); ++point) {
      ring_.push_back({Mix(point, identity_[i]), i});
    }
  }
  std::sort(ring_.begin(), ring_.end(), [this](const Point& a, const Point& b) {
    return std::tie(a.hash, identity_[a.index]) < std::tie(b.hash, identity_[b.index]);
  });
}

bool ConsistentHash::Accepts(const Choice& choice, uint32_t index, uint64_t code) const {
  if (choice.members[index].slow_start.over(choice.now)) return true;
  return SplitMix::ToUnit(Mix(code, ~identity_[index])) < choice.Share(index);
}

uint32_t ConsistentHash::Pick(const Choice& choice) {
  const uint64_t code = choice.request_code ? *choice.request_code : choice.random.Next();
  // Codes may be small numbers in a row.
  const uint64_t hash = Mix(code, 0);
  const auto from =
      std::lower_bound(ring_.begin(), ring_.end(), hash,
                       [](const Point& point, uint64_t value) { return point.hash < value; });
  const auto first = static_cast<size_t>(from - ring_.begin());
  std::optional<uint32_t> home;
  for (size_t i = 0; i < std::min(kWalk, ring_.size()); ++i) {
    const uint32_t index = ring_[(first + i) % ring_.size()].index;
    if (!choice.members[index].in_pool || choice.Tried(index)) continue;
    if (Accepts(choice, index, code)) return index;
    if (!home) home = index;
  }
  return home ? *home : PickWithoutRing(choice, code);
}

// Rendezvous hashing: each member rates the code, and the highest has it. O(n), and as
// consistent as the ring, but regardless of weights.
uint32_t ConsistentHash::PickWithoutRing(const Choice& choice, uint64_t code) const {
  std::optional<uint32_t> best;
  uint64_t highest = 0;
  for (const uint32_t index : choice.pool) {
    if (choice.Tried(index)) continue;
    const uint64_t rate = Mix(code, identity_[index]);
    if (best && rate <= highest) continue;
    best = index;
    highest = rate;
  }
  Check(best.has_value(), "one of the pool was not tried");
  return *best;
}

}  // namespace farcall
