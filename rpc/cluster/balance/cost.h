// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CLUSTER_BALANCE_COST_H_
#define FARCALL_RPC_CLUSTER_BALANCE_COST_H_

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "transport/base/time.h"

namespace farcall {

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

}  // namespace farcall

#endif  // FARCALL_RPC_CLUSTER_BALANCE_COST_H_
