// SPDX-License-Identifier: Apache-2.0

#include "rpc/dispatch/adaptive_limit.h"

#include <algorithm>
#include <cmath>

namespace farcall {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A window is long enough for its averages to mean something.
constexpr Duration kWindow = milliseconds(200);
constexpr int64_t kCalls = 100;
// For slow calls; beyond the longest the calls are too few to tell anything.
constexpr Duration kLongWindow = seconds(2);
constexpr int64_t kFewCalls = 20;
constexpr Duration kLongestWindow = seconds(10);

// How much a window counts for the lowest latency and the highest rate, and for its fading.
constexpr double kWeight = 0.3;
constexpr double kFadeWeight = 0.01;
// Averages that differ by less are the same.
constexpr double kSame = 1.1;
// By so many standard errors of its mean a probe's latency must be lower to have paid: else chance
// alone calls for the next one, and each refuses calls.
constexpr double kSure = 2;
// For each window in which no call waited.
constexpr double kGrowth = 1.1;
// Calls come as chance has it: what waits a little when several come at once keeps the
// server busy when none does. So many, and so much of the root of the product.
constexpr double kMinRoom = 2;
constexpr double kRoomFactor = 1.5;

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

void AdaptiveLimit::OnEnd(bool in_time, Duration latency, int under_way, TimePoint now) {
  if (phase_ == Phase::kDraining) {
    if (now < drained_at_) return;
    phase_ = Phase::kProbing;
    Begin(now);
  }
  if (window_.begin == TimePoint()) Begin(now);
  ++window_.ended;
  window_.in_time += in_time ? 1 : 0;
  window_.latency += Seconds(latency);
  window_.squares += Seconds(latency) * Seconds(latency);
  window_.most_under_way = std::max(window_.most_under_way, under_way);
  if (now - window_.begin > kLongestWindow && window_.ended < kFewCalls) return Begin(now);
  if (WindowIsOver(now)) OnWindow(now);
}

double AdaptiveLimit::Window::error() const {
  const double variance = squares / static_cast<double>(ended) - mean() * mean();
  return std::sqrt(std::max(variance, 0.0) / static_cast<double>(ended));
}

bool AdaptiveLimit::WindowIsOver(TimePoint now) const {
  const Duration length = now - window_.begin;
  // Calls that began together end together: a shorter window would take one burst for the rate.
  if (length < kLongestWindow && Seconds(length) < window_.mean()) return false;
  return (length >= kWindow && window_.ended >= kCalls) ||
         (length >= kLongWindow && window_.ended >= kFewCalls);
}

void AdaptiveLimit::Begin(TimePoint now) {
  window_ = Window();
  window_.begin = now;
}

void AdaptiveLimit::OnWindow(TimePoint now) {
  const double latency = window_.mean();
  const double error = window_.error();
  const double rate = static_cast<double>(window_.in_time) / Seconds(now - window_.begin);
  const bool mostly_late = 2 * window_.in_time < window_.ended;
  const bool near_limit = 2 * window_.most_under_way >= limit_ || mostly_late;
  const bool all_late = window_.in_time == 0;
  Begin(now);
  if (phase_ == Phase::kProbing) return OnProbed(latency, error, now);
  if (all_late) return SetLimit(limit_ / 2);
  if (!near_limit) {
    // No call waits for another: that is the latency, and a probe will hardly find a lower one.
    probe_part_ = kShallowProbe;
    lowest_latency_ += (latency - lowest_latency_) * (lowest_latency_ == 0 ? 1 : kWeight);
    return;
  }
  UpdateLimit(rate, latency);
  if (next_probe_ == TimePoint()) next_probe_ = now + probe_every_;
  if (now >= next_probe_) BeginProbe(latency, now);
}

void AdaptiveLimit::UpdateLimit(double rate, double latency) {
  // One window's chance does not make a record.
  const double weight = rate > highest_rate_ ? kWeight : kFadeWeight;
  highest_rate_ += (rate - highest_rate_) * (highest_rate_ == 0 ? 1 : weight);
  if (lowest_latency_ == 0) {
    lowest_latency_ = latency;
  } else if (latency < lowest_latency_) {
    lowest_latency_ += (latency - lowest_latency_) * kWeight;
  }
  // As long as no call waits the limit may be too low.
  const double more = latency <= lowest_latency_ * kSame ? limit_ * kGrowth : 0;
  SetLimit(std::max(ProductAndRoom(), more));
}

double AdaptiveLimit::ProductAndRoom() const {
  const double product = highest_rate_ * lowest_latency_;
  return product + kMinRoom + kRoomFactor * std::sqrt(product);
}

void AdaptiveLimit::BeginProbe(double latency, TimePoint now) {
  limit_before_ = limit_;
  latency_before_ = latency;
  phase_ = Phase::kDraining;
  drained_at_ =
      now + 2 * std::chrono::duration_cast<Duration>(std::chrono::duration<double>(latency));
  SetLimit(probe_part_ * highest_rate_ * lowest_latency_);
}

void AdaptiveLimit::OnProbed(double latency, double error, TimePoint now) {
  const bool paid = (latency + kSure * error) * kSame < lowest_latency_;
  phase_ = Phase::kNormal;
  probe_part_ = paid ? kDeepProbe : kShallowProbe;
  probe_every_ = paid ? kSoon : std::min(2 * probe_every_, kRarely);
  next_probe_ = now + probe_every_;
  lowest_latency_ = latency;
  // Where fewer calls took as long, the others had not waited for one another.
  const bool none_waited = latency_before_ <= latency * kSame;
  SetLimit(std::max(ProductAndRoom(), none_waited ? limit_before_ : 0.0));
}

void AdaptiveLimit::SetLimit(double limit) {
  limit_ = static_cast<int>(std::clamp(std::ceil(limit), 1.0, static_cast<double>(kMax)));
}

}  // namespace farcall
