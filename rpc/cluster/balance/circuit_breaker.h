// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CLUSTER_BALANCE_CIRCUIT_BREAKER_H_
#define FARCALL_RPC_CLUSTER_BALANCE_CIRCUIT_BREAKER_H_

#include <optional>

#include "rpc/channel_options.h"
#include "rpc/cluster/balance/measures.h"
#include "transport/base/backoff.h"
#include "transport/base/time.h"

namespace farcall {

// How often and how slowly one server answers, whether that is too bad, and until when it is left
// alone for it. Whether it may be left alone is for who knows its peers. Pure.
//
// Back from a pause it is on trial: as many failures as make a full window bad are enough, without
// waiting for the window to fill.
class CircuitBreaker {
 public:
  // `options` outlive it.
  explicit CircuitBreaker(const CircuitBreakerOptions& options);

  // An attempt that began at `began` ended. Those that began before the last Open, Close or
  // Forget do not count: they are of the time that was judged already.
  void OnEnd(bool failed, Duration latency, TimePoint began);
  // Its error rate is too high.
  bool failing() const;
  // True now and then, for comparing with the peers costs more than a call should.
  bool latency_is_due() const;
  // Its mean latency is too many times `median`, that of its peers.
  bool slow(double median) const;

  // The server gets no calls until `until`.
  void Open(TimePoint now, SplitMix& random);
  // It may get calls again, the pause being over or not.
  void Close(TimePoint now);
  // The server is another one now: no attempt that began before `now` counts.
  void Forget(TimePoint now);
  bool open() const { return open_; }
  TimePoint until() const { return until_; }

  // 0 to 1; while it is open, what it was convicted of.
  double error_rate() const { return calls_.error_rate(); }
  // Nanoseconds, moving over the window; empty: not enough calls yet.
  std::optional<double> mean_latency() const;

 private:
  uint32_t window() const { return static_cast<uint32_t>(options_->window_calls); }

  const CircuitBreakerOptions* options_;
  CallWindow calls_;
  MovingMean latency_;
  uint32_t calls_since_look_ = 0;
  Backoff pause_;
  bool open_ = false;
  bool on_trial_ = false;
  TimePoint counts_from_ = TimePoint::min();
  TimePoint until_{};
  std::optional<TimePoint> closed_at_;  // empty: never opened
};

}  // namespace farcall

#endif  // FARCALL_RPC_CLUSTER_BALANCE_CIRCUIT_BREAKER_H_
