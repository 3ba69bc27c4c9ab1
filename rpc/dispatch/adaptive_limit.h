// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_DISPATCH_ADAPTIVE_LIMIT_H_
#define FARCALL_RPC_DISPATCH_ADAPTIVE_LIMIT_H_

#include <chrono>
#include <cstdint>

#include "transport/base/time.h"

namespace farcall {

// Finds how many calls may be under way at once from how long they take and how many end. By
// Little's law the best number is throughput at its highest times latency at its lowest: with
// fewer the server idles, with more they only wait for one another. Pure; one thread at a time.
//
// The highest throughput is remembered and fades; the lowest latency is looked for again by
// admitting fewer calls for a moment ("probe"): often as long as that finds a lower one, then
// each half minute. Beyond the product goes some room, and as long as no call waits the limit
// grows. A limit that calls do not come near is left as it is: it says nothing about the server.
// But where most calls end too late it is their callers' patience that keeps them below it, and it
// is too high.
class AdaptiveLimit {
 public:
  static constexpr int kFirst = 40;
  static constexpr int kMax = 100'000;

  // 1 to kMax.
  int limit() const { return limit_; }
  // A call ended that was admitted under limit(). `in_time`: not too late for who waited for it.
  // `under_way`: calls at once, with this one, as it ended.
  void OnEnd(bool in_time, Duration latency, int under_way, TimePoint now);

 private:
  // Parts of the product that a probe admits.
  static constexpr double kDeepProbe = 0.5;
  static constexpr double kShallowProbe = 0.8;
  static constexpr Duration kSoon = std::chrono::seconds(1);
  static constexpr Duration kRarely = std::chrono::seconds(30);

  enum class Phase : unsigned char {
    kNormal,
    kDraining,  // of a probe: calls that were admitted before it end
    kProbing,   // fewer calls are under way, and their latency is measured
  };
  struct Window {
    TimePoint begin{};
    int64_t ended = 0;
    int64_t in_time = 0;
    double latency = 0;  // seconds, all together
    double squares = 0;  // of the same
    int most_under_way = 0;

    double mean() const { return latency / static_cast<double>(ended); }
    // How far the mean is off by chance: its standard error.
    double error() const;
  };

  bool WindowIsOver(TimePoint now) const;
  void Begin(TimePoint now);
  void OnWindow(TimePoint now);
  void OnProbed(double latency, double error, TimePoint now);
  void BeginProbe(double latency, TimePoint now);
  void UpdateLimit(double rate, double latency);
  double ProductAndRoom() const;
  void SetLimit(double limit);

  int limit_ = kFirst;
  Phase phase_ = Phase::kNormal;
  TimePoint drained_at_{};
  Window window_;
  double highest_rate_ = 0;    // calls a second
  double lowest_latency_ = 0;  // seconds; 0: not known
  double probe_part_ = kDeepProbe;
  Duration probe_every_ = kSoon;
  TimePoint next_probe_{};
  double limit_before_ = 0;    // the last probe
  double latency_before_ = 0;  // the same, seconds
};

}  // namespace farcall

#endif  // FARCALL_RPC_DISPATCH_ADAPTIVE_LIMIT_H_
