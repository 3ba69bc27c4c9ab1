// SPDX-License-Identifier: Apache-2.0

#include "rpc/stats/stats_sampler.h"

#include <algorithm>

#include "transport/base/check.h"

namespace farcall {
namespace {

using Counts = MethodStats::Counts;

constexpr Duration kFullPeriod = std::chrono::seconds(10);
// A sample is due each period while there are calls: after twice that there were none.
constexpr Duration kQuiet = 2 * StatsSampler::kPeriod;
constexpr Duration kFullQuiet = kFullPeriod + kQuiet;
constexpr size_t kSeconds = 4;
constexpr size_t kMinutes = 8;  // reaches back kRecent and a full period

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

// The clock may not have moved between two looks.
double SecondsSince(TimePoint then, TimePoint now) { return std::max(Seconds(now - then), 1e-3); }

Counts Since(const Counts& now, const Counts& then) {
  return Counts{now.started - then.started, now.ended - then.ended, now.errors - then.errors,
                now.refused - then.refused, now.latency_ns - then.latency_ns};
}

void Add(const Counts& more, Counts& to) {
  to.started += more.started;
  to.ended += more.ended;
  to.errors += more.errors;
  to.refused += more.refused;
  to.latency_ns += more.latency_ns;
}

bool Used(const Counts& counts) { return counts.started + counts.refused > 0; }

}  // namespace

StatsSampler::Watched::Watched(const MethodStats& of)
    : stats(&of), seconds(kSeconds, kQuiet), minutes(kMinutes, kFullQuiet) {}

StatsSampler::StatsSampler() : all_(kHistory, kQuiet) {}

void StatsSampler::Begin(TimePoint now, const std::vector<const MethodStats*>& methods) {
  std::lock_guard<std::mutex> lock(mutex_);
  all_ = SampleRing<Counts>(kHistory, kQuiet);
  all_.Add(now, Counts());
  methods_.clear();
  methods_.reserve(methods.size());
  for (const MethodStats* stats : methods) {
    Watched& method = methods_.emplace_back(*stats);
    method.seconds.Add(now, Counts());
    method.minutes.Add(now, MethodSnapshot());
    // Not all methods are read in full in the same second.
    method.next_full = now + static_cast<int>(methods_.size() % 10) * kPeriod;
  }
  next_.store((now + kPeriod).time_since_epoch().count());
}

void StatsSampler::SampleIfDue(TimePoint now) {
  Duration::rep due = next_.load();
  if (now.time_since_epoch().count() < due) return;
  // One of those who come together; the others go on.
  if (!next_.compare_exchange_strong(due, (now + kPeriod).time_since_epoch().count())) return;
  std::lock_guard<std::mutex> lock(mutex_);
  Sample(now);
}

void StatsSampler::Sample(TimePoint now) {
  // Another thread, whose time was later, may have come first.
  if (now < all_.last().when) return;
  const bool after_pause = now - all_.last().when > kQuiet;
  Counts sum;
  for (Watched& method : methods_) {
    const Counts counts = method.stats->counts();
    if (!Used(counts)) continue;
    Add(counts, sum);
    method.seconds.Add(now, counts);
    if (!after_pause && now < method.next_full) continue;
    method.minutes.Add(now, method.stats->snapshot());
    method.next_full = now + kFullPeriod;
  }
  all_.Add(now, sum);
}

StatsSampler::View StatsSampler::Look(TimePoint now) {
  SampleIfDue(now);
  std::lock_guard<std::mutex> lock(mutex_);
  Check(!all_.empty(), "the server has started");
  now = std::max(now, all_.last().when);
  View view;
  view.methods.reserve(methods_.size());
  Counts sum;
  for (const Watched& method : methods_) {
    Add(method.stats->counts(), sum);
    view.methods.push_back(RatesOf(method, now));
  }
  view.history = History(now, sum);
  return view;
}

StatsSampler::Rates StatsSampler::RatesOf(const Watched& method, TimePoint now) {
  Rates rates;
  rates.total = method.stats->snapshot();
  const Counts counts = method.stats->counts();
  const auto second = method.seconds.Before(now - kPeriod, counts);
  const Counts since = Since(counts, *second.counts);
  const double seconds = SecondsSince(second.when, now);
  rates.qps = static_cast<double>(since.ended + since.refused) / seconds;
  rates.errors_per_second = static_cast<double>(since.errors) / seconds;
  const auto minute = method.minutes.Before(now - kRecent, rates.total);
  rates.recent = rates.total.Since(*minute.counts);
  rates.recent_seconds = SecondsSince(minute.when, now);
  return rates;
}

std::vector<StatsSampler::Moment> StatsSampler::History(TimePoint now, const Counts& counts) const {
  std::vector<Moment> history;
  history.reserve(all_.size());
  for (size_t i = 1; i < all_.size(); ++i) {
    const auto& before = all_.at(i - 1);
    const auto& sample = all_.at(i);
    const double seconds = SecondsSince(before.when, sample.when);
    history.push_back(Moment{sample.when, seconds, Since(sample.counts, before.counts)});
  }
  if (now > all_.last().when) {
    const auto& last = all_.last();
    history.push_back(Moment{now, SecondsSince(last.when, now), Since(counts, last.counts)});
  }
  return history;
}

}  // namespace farcall
