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
  if (late || took < kLeastTime || bytes < tail_) return;
  const double sample = static_cast<double>(bytes) / Seconds(took);
  rate_ = rate_ == 0 ? sample : rate_ + (sample - rate_) / 4;
  measured_ = now;
  Begin(acknowledged, now);
}

double RateMeter::Estimate(double best, TimePoint now) const {
  if (rate_ == 0 || rate_ >= best) return best;
  const double doublings = std::min(Seconds(now - measured_) / Seconds(kTrust), 64.0);
  return std::min(best, rate_ * std::exp2(doublings));
}

}  // namespace farcall
