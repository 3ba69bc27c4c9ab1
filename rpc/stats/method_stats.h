// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_STATS_METHOD_STATS_H_
#define FARCALL_RPC_STATS_METHOD_STATS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rpc/stats/error_class.h"
#include "rpc/stats/latency_buckets.h"
#include "rpc/stats/method_snapshot.h"
#include "transport/base/threads/thread_slot.h"
#include "transport/base/time.h"

namespace farcall {

// Counts the calls of one method. Any thread, without a lock: threads count apart from each
// other, and a snapshot adds up. A snapshot is not of one moment: calls that end while it is
// taken may be in some of its numbers and not in others.
class MethodStats {
 public:
  using Snapshot = MethodSnapshot;
  using Counts = MethodCounts;

  MethodStats() = default;
  MethodStats(const MethodStats&) = delete;
  MethodStats& operator=(const MethodStats&) = delete;
  ~MethodStats();

  // The call was admitted. OnEnd follows, once.
  void OnStart() { Own().started.fetch_add(1, std::memory_order_relaxed); }
  void OnEnd(int error_code, Duration latency) {
    Shard& own = Own();
    own.latency_ns.fetch_add(Nanoseconds(latency), std::memory_order_relaxed);
    own.latencies[LatencyBuckets::Of(latency)].fetch_add(1, std::memory_order_relaxed);
    // Last, and released, so that no reader sees more ends than beginnings.
    own.ended[ErrorClassOf(error_code)].fetch_add(1, std::memory_order_release);
  }
  // Instead of both: the call was answered with an error and never begun.
  void OnRefused(int error_code) {
    Own().refused[ErrorClassOf(error_code)].fetch_add(1, std::memory_order_relaxed);
  }

  // Reads some 10 KB for each thread that counted, up to kShards: not in the data path.
  Snapshot snapshot() const;
  // Cheap enough to be taken often.
  Counts counts() const;

 private:
  static constexpr size_t kShards = 8;
  struct alignas(64) Shard {
    std::atomic<uint64_t> started{0};
    std::atomic<uint64_t> latency_ns{0};
    std::array<std::atomic<uint64_t>, kErrorClasses> ended{};
    std::array<std::atomic<uint64_t>, kErrorClasses> refused{};
    std::array<std::atomic<uint64_t>, LatencyBuckets::kCount> latencies{};
  };

  static uint64_t Nanoseconds(Duration latency) {
    const int64_t count = std::chrono::nanoseconds(latency).count();
    return count > 0 ? static_cast<uint64_t>(count) : 0;
  }
  Shard& Own() {
    std::atomic<Shard*>& place = shards_[ThreadSlot() % kShards];
    Shard* const shard = place.load(std::memory_order_acquire);
    return shard != nullptr ? *shard : Make(place);
  }
  Shard& Make(std::atomic<Shard*>& place);

  // Made when first used: most methods are called by few threads, many by none.
  std::array<std::atomic<Shard*>, kShards> shards_{};
};

}  // namespace farcall

#endif  // FARCALL_RPC_STATS_METHOD_STATS_H_
