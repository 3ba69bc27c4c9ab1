// SPDX-License-Identifier: Apache-2.0

#include "rpc/cluster/balance/circuit_breaker.h"

namespace farcall {

CircuitBreaker::CircuitBreaker(const CircuitBreakerOptions& options)
    : options_(&options),
      calls_(window()),
      pause_(std::chrono::milliseconds(options.first_pause_ms),
             std::chrono::milliseconds(options.longest_pause_ms)) {}

void CircuitBreaker::OnEnd(bool failed, Duration latency, TimePoint began) {
  if (open_ || began < counts_from_) return;
  calls_.Add(failed);
  if (options_->latency_factor == 0) return;
  latency_.Add(static_cast<double>(latency.count()), window());
  calls_since_look_ = latency_is_due() ? 1 : calls_since_look_ + 1;
}

bool CircuitBreaker::failing() const {
  if (calls_.full()) return calls_.error_rate() >= options_->error_rate;
  return on_trial_ && calls_.failures() >= options_->error_rate * window();
}

bool CircuitBreaker::latency_is_due() const { return calls_since_look_ * 4 >= window(); }

bool CircuitBreaker::slow(double median) const {
  const std::optional<double> mean = mean_latency();
  return mean && *mean >= options_->latency_factor * median;
}

std::optional<double> CircuitBreaker::mean_latency() const {
  if (latency_.count() < window()) return std::nullopt;
  return latency_.mean();
}

void CircuitBreaker::Open(TimePoint now, SplitMix& random) {
  if (closed_at_ && now - *closed_at_ >= pause_.longest()) pause_.Reset();
  open_ = true;
  until_ = now + pause_.Next(random);
}

void CircuitBreaker::Close(TimePoint now) {
  open_ = false;
  on_trial_ = true;
  closed_at_ = now;
  Forget(now);
}

void CircuitBreaker::Forget(TimePoint now) {
  counts_from_ = now;
  calls_.Reset();
  latency_.Reset();
  calls_since_look_ = 0;
}

}  // namespace farcall
