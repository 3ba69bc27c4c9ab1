// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/rails/rate_meter.h"

#include <algorithm>
#include <cmath>

namespace farcall {
namespace {

double Seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

int64_t Microseconds(TimePoint time) {
  return std::chrono::floor<std::chrono::microseconds>(time.time_since_epoch()).count();
}

}  // namespace

ArrivalStamp StampOf(TimePoint now) { return static_cast<ArrivalStamp>(Microseconds(now)); }

void RateMeter::Sent(uint64_t count, uint64_t bytes, TimePoint now) {
  if (count == acknowledged_) {
    begin_.reset();
    pieces_.clear();
    if (now - reported_ >= kForget) offset_.reset();
  }
  const int64_t at = Microseconds(now);
  if (pieces_.empty() || count - pieces_.back().from >= least_) {
    pieces_.push_back({.from = count, .first = at});
  }
  pieces_.back().last = at;
  sent_ = count + bytes;
}

void RateMeter::Acknowledge(uint64_t count, ArrivalStamp stamp, TimePoint now) {
  if (count <= acknowledged_ || pieces_.empty()) return;
  arrival_ += static_cast<int32_t>(stamp - stamp_);
  stamp_ = stamp;
  reported_ = now;
  while (pieces_.size() > 1 && pieces_[1].from < count) pieces_.pop_front();
  // The last byte that came, at most.
  const int64_t took = arrival_ - pieces_.front().first;
  if (!offset_ || took < *offset_) offset_ = took;
  acknowledged_ = count;
  Measure(count, now);
  if (!GoesOn()) {
    begin_.reset();
  } else if (!begin_) {
    begin_ = {.count = count, .arrival = arrival_};
  }
}

void RateMeter::Measure(uint64_t count, TimePoint now) {
  if (!begin_ || count - begin_->count < least_ || arrival_ <= begin_->arrival) return;
  // Behind what was given later there may have been a pause, before it.
  if (pieces_.front().last + *offset_ > begin_->arrival) return begin_.reset();
  const double took = static_cast<double>(arrival_ - begin_->arrival) / 1e6;
  const double weight = std::exp2(-took / Seconds(kHalfLife));
  bytes_ = bytes_ * weight + static_cast<double>(count - begin_->count);
  seconds_ = seconds_ * weight + took;
  measured_ = now;
  begin_.reset();
}

bool RateMeter::GoesOn() const {
  return acknowledged_ < sent_ && NextGiven() + *offset_ <= arrival_;
}

int64_t RateMeter::NextGiven() const {
  const bool next = pieces_.size() > 1 && pieces_[1].from <= acknowledged_;
  return pieces_[next ? 1 : 0].last;
}

double RateMeter::Estimate(double best, TimePoint now) const {
  if (rate() == 0 || rate() >= best) return best;
  const double doublings = std::min(Seconds(now - measured_) / Seconds(kTrust), 64.0);
  return std::min(best, rate() * std::exp2(doublings));
}

double RateMeter::Ahead(double rate, TimePoint now) const {
  const double takes = static_cast<double>(sent_ - acknowledged_) / rate;
  if (!offset_ || acknowledged_ >= sent_) return takes;
  // Each began when the one before it had come, and not before it was given.
  double done = static_cast<double>(arrival_ - *offset_);
  for (size_t i = 0; i < pieces_.size(); ++i) {
    const uint64_t from = std::max(pieces_[i].from, acknowledged_);
    const uint64_t to = i + 1 < pieces_.size() ? pieces_[i + 1].from : sent_;
    if (to <= from) continue;
    done = std::max(done, static_cast<double>(pieces_[i].last)) +
           static_cast<double>(to - from) / rate * 1e6;
  }
  return std::clamp((done - static_cast<double>(Microseconds(now))) / 1e6, takes / 8, takes);
}

}  // namespace farcall
