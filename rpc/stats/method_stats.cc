// SPDX-License-Identifier: Apache-2.0

#include "rpc/stats/method_stats.h"

#include <memory>

namespace farcall {
namespace {

template <typename Atomics, typename Array>
void AddLoaded(const Atomics& more, std::memory_order order, Array& to) {
  for (size_t i = 0; i < to.size(); ++i) to[i] += more[i].load(order);
}

}  // namespace

MethodStats::~MethodStats() {
  for (const std::atomic<Shard*>& shard : shards_) delete shard.load(std::memory_order_relaxed);
}

MethodStats::Shard& MethodStats::Make(std::atomic<Shard*>& place) {
  auto made = std::make_unique<Shard>();
  Shard* there = nullptr;
  if (place.compare_exchange_strong(there, made.get(), std::memory_order_acq_rel)) {
    there = made.release();
  }
  return *there;
}

MethodStats::Snapshot MethodStats::snapshot() const {
  Snapshot sum;
  // All ends before any beginning: a call begins on one thread and may end on another.
  for (const std::atomic<Shard*>& place : shards_) {
    const Shard* const shard = place.load(std::memory_order_acquire);
    if (shard != nullptr) AddLoaded(shard->ended, std::memory_order_acquire, sum.ended);
  }
  for (const std::atomic<Shard*>& place : shards_) {
    const Shard* const shard = place.load(std::memory_order_acquire);
    if (shard == nullptr) continue;
    sum.started += shard->started.load(std::memory_order_relaxed);
    sum.latency_ns += shard->latency_ns.load(std::memory_order_relaxed);
    AddLoaded(shard->refused, std::memory_order_relaxed, sum.refused);
    AddLoaded(shard->latencies, std::memory_order_relaxed, sum.latencies);
  }
  return sum;
}

MethodStats::Counts MethodStats::counts() const {
  Counts sum;
  for (const std::atomic<Shard*>& place : shards_) {
    const Shard* const shard = place.load(std::memory_order_acquire);
    if (shard == nullptr) continue;
    ErrorCounts ended{};
    AddLoaded(shard->ended, std::memory_order_acquire, ended);
    ErrorCounts refused{};
    AddLoaded(shard->refused, std::memory_order_relaxed, refused);
    sum.ended += Sum(ended);
    sum.errors += Sum(ended) - ended[0] + Sum(refused);
    sum.refused += Sum(refused);
    sum.latency_ns += shard->latency_ns.load(std::memory_order_relaxed);
  }
  for (const std::atomic<Shard*>& place : shards_) {
    const Shard* const shard = place.load(std::memory_order_acquire);
    if (shard != nullptr) sum.started += shard->started.load(std::memory_order_relaxed);
  }
  return sum;
}

}  // namespace farcall
