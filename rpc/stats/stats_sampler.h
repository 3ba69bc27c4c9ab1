// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_STATS_STATS_SAMPLER_H_
#define FARCALL_RPC_STATS_STATS_SAMPLER_H_

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "rpc/stats/method_snapshot.h"
#include "rpc/stats/method_stats.h"
#include "rpc/stats/sample_ring.h"
#include "transport/base/time.h"

namespace farcall {

// Remembers what methods had counted some time ago, and so knows their rates. It needs no timer:
// the calls themselves bring the time, and who looks. An idle server does nothing.
class StatsSampler {
 public:
  static constexpr Duration kPeriod = std::chrono::seconds(1);
  static constexpr Duration kRecent = std::chrono::minutes(1);
  static constexpr size_t kHistory = 64;  // seconds, or longer when there were pauses

  using Counts = MethodStats::Counts;
  using Rates = MethodRates;
  using Moment = CallMoment;
  struct View {
    std::vector<Rates> methods;   // in the order of Begin
    std::vector<Moment> history;  // of all methods together, the oldest first
  };

  StatsSampler();
  StatsSampler(const StatsSampler&) = delete;
  StatsSampler& operator=(const StatsSampler&) = delete;

  // Before the first call; the methods outlive the sampler's use. Again, where a start has failed:
  // begins anew.
  void Begin(TimePoint now, const std::vector<const MethodStats*>& methods);

  // Any thread, before a call is counted as ended or refused: a load and a comparison, but once
  // a second some microseconds for each hundred methods.
  void OnCall(TimePoint now) {
    if (now.time_since_epoch().count() >= next_.load(std::memory_order_relaxed)) [[unlikely]] {
      SampleIfDue(now);
    }
  }
  // Any thread. Reads all counters: some microseconds for each method in use.
  View Look(TimePoint now);

 private:
  // Has all its memory from the start, so that sampling allocates nothing.
  struct Watched {
    explicit Watched(const MethodStats& of);
    const MethodStats* stats;
    SampleRing<Counts> seconds;
    SampleRing<MethodSnapshot> minutes;
    TimePoint next_full{};
  };

  void SampleIfDue(TimePoint now);
  void Sample(TimePoint now);
  static Rates RatesOf(const Watched& method, TimePoint now);
  std::vector<Moment> History(TimePoint now, const Counts& counts) const;

  // When the next sample is due, nanoseconds; set for ever before Begin.
  std::atomic<Duration::rep> next_{Duration::max().count()};
  std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<Watched> methods_;
  SampleRing<Counts> all_;  // empty before Begin
};

}  // namespace farcall

#endif  // FARCALL_RPC_STATS_STATS_SAMPLER_H_
