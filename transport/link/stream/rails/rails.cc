// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/rails/rails.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "transport/base/check.h"

namespace farcall {
namespace {

// Of which nothing is known of any rail: they are alike then, and this cancels out.
constexpr double kAnyRate = 1e9;
// What a rail gets at once, so that a mistake costs little and the work for each slice does too.
constexpr double kSliceSeconds = 0.0005;
// Slices that a rail of which nothing is known may have in flight at first.
constexpr uint64_t kFirstSlices = 4;

}  // namespace

void Rail::Sent(uint64_t offset, uint64_t bytes, TimePoint now) {
  if (flight_.in_flight() == 0) moved_ = now;
  rate_.Sent(flight_.sent(), bytes, now);
  flight_.Sent(offset, bytes);
}

bool Rail::Acknowledge(uint64_t count, ArrivalStamp stamp, TimePoint now) {
  const uint64_t before = flight_.acknowledged();
  if (!flight_.Acknowledge(count)) return false;
  if (flight_.acknowledged() == before) return true;
  rate_.Acknowledge(flight_.acknowledged(), stamp, now);
  moved_ = now;
  return true;
}

std::vector<ByteRange> Rail::Suspect() {
  trusted_at_ = flight_.sent();
  given.Forget();
  return flight_.TakeLost();
}

std::vector<ByteRange> Rails::Remove(uint32_t number) {
  const auto found = std::find_if(rails_.begin(), rails_.end(),
                                  [&](const auto& rail) { return rail->number() == number; });
  if (found == rails_.end()) return {};
  std::vector<ByteRange> lost = (*found)->TakeLost();
  rails_.erase(found);
  return lost;
}

const Rail* Rails::Find(uint32_t number) const {
  for (const auto& rail : rails_) {
    if (rail->number() == number) return rail.get();
  }
  return nullptr;
}

Rail* Rails::Find(uint32_t number) { return const_cast<Rail*>(std::as_const(*this).Find(number)); }

uint32_t Rails::home() const {
  for (const auto& rail : rails_) {
    if (!rail->suspect()) return rail->number();
  }
  return rails_.empty() ? 0 : rails_.front()->number();
}

double Rails::Best() const {
  double best = 0;
  for (const auto& rail : rails_) best = std::max(best, rail->rate().rate());
  return best == 0 ? kAnyRate : best;
}

Rails::Choice Rails::Pick(uint64_t waiting, TimePoint now) {
  Check(!rails_.empty(), "one of the rails is picked");
  // The end of much is not little: the home may be the last to be done with it.
  uint64_t much = waiting;
  for (const auto& rail : rails_) much += rail->flight().in_flight();
  if (much < 2 * limits_.least_slice || rails_.size() == 1) {
    return {.rail = Find(home()), .most = limits_.max_data};
  }
  const double best = Best();
  Choice choice;
  double soonest = std::numeric_limits<double>::infinity();
  for (const auto& rail : rails_) {
    if (rail->suspect() && rail->number() != home()) continue;
    const double rate = rail->rate().Estimate(best, now);
    const double most = (rail->rate().rate() > 0 ? kMaxSlices : 1) * limits_.least_slice;
    const double size = std::clamp<double>(rate * kSliceSeconds, limits_.least_slice, most);
    const double given = std::min(size, static_cast<double>(waiting));
    const double done = rail->rate().Ahead(rate, now) + given / rate;
    if (done >= soonest) continue;
    soonest = done;
    choice = {.rail = rail.get(), .most = static_cast<size_t>(size)};
  }
  if (!MayTake(*choice.rail)) return {};
  choice.most = std::min({choice.most, limits_.max_data,
                          std::max<size_t>(waiting / rails_.size(), limits_.least_slice)});
  return choice;
}

// How slow it is shows what it brings: what it got before that others might have brought sooner. So
// it gets little, and then as much as it has brought.
bool Rails::MayTake(const Rail& rail) const {
  const FlightLog& flight = rail.flight();
  return rail.rate().rate() > 0 ||
         flight.in_flight() < std::max(kFirstSlices * limits_.least_slice, flight.acknowledged());
}

bool Rails::HasOther(const Rail& rail) const {
  return std::any_of(rails_.begin(), rails_.end(),
                     [&](const auto& other) { return other.get() != &rail && !other->suspect(); });
}

std::optional<TimePoint> Rails::StillSince() const {
  std::optional<TimePoint> since;
  for (const auto& rail : rails_) {
    const std::optional<TimePoint> still = rail->still_since();
    if (!still || rail->suspect() || !HasOther(*rail)) continue;
    since = std::min(since.value_or(*still), *still);
  }
  return since;
}

Rail* Rails::FindSuspect(TimePoint now) {
  for (const auto& rail : rails_) {
    if (rail->suspect() || !rail->progress.Lacks(SuspectAfter(limits_), now)) continue;
    if (HasOther(*rail)) return rail.get();
  }
  return nullptr;
}

Duration Rails::ProgressTimeout(const Rail& rail) const {
  return HasOther(rail) ? limits_.progress_timeout : limits_.LastProgressTimeout();
}

Rail* Rails::FindStuck(TimePoint now) {
  for (const auto& rail : rails_) {
    if (rail->progress.Lacks(ProgressTimeout(*rail), now)) return rail.get();
  }
  return nullptr;
}

}  // namespace farcall
