// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CLUSTER_BALANCE_SLOW_START_H_
#define FARCALL_RPC_CLUSTER_BALANCE_SLOW_START_H_

#include "transport/base/time.h"

namespace farcall {

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

#endif  // FARCALL_RPC_CLUSTER_BALANCE_SLOW_START_H_
