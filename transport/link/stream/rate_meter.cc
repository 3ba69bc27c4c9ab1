// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/rate_meter.h"

#include <algorithm>
#include <cmath>

namespace farcall {
namespace {

double Seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

void RateMeter::Acknowledge(uint64_t acknowledged, uint64_t in_flight, TimePoint now) {
  const Duration took = now - from_;
  if (acknowledged <= from_count_) return;
  const uint64_t bytes = acknowledged - from_count_;
  const bool late = in_flight < tail_ && took < 4 * delay_;
  if (late || took <= Duration::zero() || bytes < tail_) return;
  const double weight = std::exp2(-Seconds(took) / Seconds(kHalfLife));
  bytes_ = bytes_ * weight + static_cast<double>(bytes);
  seconds_ = seconds_ * weight + Seconds(took);
  measured_ = now;
  Begin(acknowledged, now);
}

double RateMeter::Estimate(double best, TimePoint now) const {
  if (rate() == 0 || rate() >= best) return best;
  const double doublings = std::min(Seconds(now - measured_) / Seconds(kTrust), 64.0);
  return std::min(best, rate() * std::exp2(doublings));
}

}  // namespace farcall
