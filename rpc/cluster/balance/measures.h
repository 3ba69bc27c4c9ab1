// SPDX-License-Identifier: Apache-2.0
//
// The small parts of which what is known of one server is made.

#ifndef FARCALL_RPC_CLUSTER_BALANCE_MEASURES_H_
#define FARCALL_RPC_CLUSTER_BALANCE_MEASURES_H_

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "transport/base/time.h"

namespace farcall {

// The mean of about the last `window` values: exact up to so many, then exponentially weighted,
// so that it needs no memory of them. Pure.
class MovingMean {
 public:
  // `window` > 0 and always the same.
  void Add(double value, uint32_t window) {
    if (count_ < window) ++count_;
    mean_ += (value - mean_) / count_;
  }
  void Reset() { *this = MovingMean(); }
  double mean() const { return mean_; }      // 0 before the first
  uint32_t count() const { return count_; }  // up to the window

 private:
  double mean_ = 0;
  uint32_t count_ = 0;
};

// What a call to one server costs, beside `typical`, what one to any server does: the moving mean
// of latencies, for who compares servers by it. Nanoseconds.
//
// A server that was slow gets few calls, and so cannot show that it is not any more: what is
// known of it fades to what is typical, in kFade without a call. Pure.
class Cost {
 public:
  // Few, so that it follows a server that slows down.
  static constexpr double kCalls = 16;
  static constexpr Duration kFade = std::chrono::seconds(2);

  void Add(double cost, TimePoint now, double typical) {
    mean_ = At(now, typical);
    count_ = std::min(count_ + 1, kCalls);
    mean_ += (cost - mean_) / count_;
    at_ = now;
  }
  // Of a new server nothing is known: as good as any.
  double At(TimePoint now, double typical) const {
    if (count_ == 0) return typical;
    if (mean_ <= typical) return mean_;
    const double fades =
        static_cast<double>((now - at_).count()) / static_cast<double>(kFade.count());
    return mean_ + (typical - mean_) * std::clamp(fades, 0.0, 1.0);
  }

 private:
  double mean_ = 0;
  double count_ = 0;
  TimePoint at_{};
};

// How many of the last `window` calls failed. Calls are forgotten a tenth of the window at a time,
// rounded up, so it counts up to a tenth and ten calls more. Pure.
class CallWindow {
 public:
  // 10 or more.
  explicit CallWindow(uint32_t window) : window_(window) {}

  void Add(bool failed) {
    if (slots_[last_].calls * kTenths >= window_) Advance();
    ++slots_[last_].calls;
    ++calls_;
    if (!failed) return;
    ++slots_[last_].failures;
    ++failures_;
  }
  void Reset() { *this = CallWindow(window_); }

  bool full() const { return calls_ >= window_; }
  uint32_t failures() const { return failures_; }
  // 0 to 1; 0 before the first.
  double error_rate() const { return calls_ == 0 ? 0 : static_cast<double>(failures_) / calls_; }

 private:
  static constexpr uint32_t kTenths = 10;
  struct Slot {
    uint32_t calls = 0;
    uint32_t failures = 0;
  };

  void Advance() {
    last_ = (last_ + 1) % slots_.size();
    calls_ -= slots_[last_].calls;
    failures_ -= slots_[last_].failures;
    slots_[last_] = {};
  }

  uint32_t window_;
  uint32_t calls_ = 0;
  uint32_t failures_ = 0;
  size_t last_ = 0;
  // One more, which fills: the others are a window.
  std::array<Slot, kTenths + 1> slots_{};
};

// The part of its full share that a server may get: grows in a straight line from kFirst to 1.
// Before the first Begin, and after End, it is 1. Pure.
class SlowStart {
 public:
  static constexpr double kFirst = 0.05;

  void Begin(TimePoint now, Duration length) {
    from_ = now;
    until_ = now + length;
  }
  void End() { from_ = until_ = TimePoint::min(); }
  TimePoint until() const { return until_; }
  bool over(TimePoint now) const { return now >= until_; }
  double Share(TimePoint now) const {
    if (over(now)) return 1;
    // Not over: until_ is behind from_, and `now` between them.
    return kFirst + (1 - kFirst) * (static_cast<double>((now - from_).count()) /
                                    static_cast<double>((until_ - from_).count()));
  }

 private:
  TimePoint from_ = TimePoint::min();
  TimePoint until_ = TimePoint::min();
};

}  // namespace farcall

#endif  // FARCALL_RPC_CLUSTER_BALANCE_MEASURES_H_
