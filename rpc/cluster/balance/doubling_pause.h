// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CLUSTER_BALANCE_DOUBLING_PAUSE_H_
#define FARCALL_RPC_CLUSTER_BALANCE_DOUBLING_PAUSE_H_

#include <algorithm>

#include "rpc/cluster/balance/split_mix.h"
#include "transport/base/time.h"

namespace farcall {

// Pauses that double from `first` to `longest`; each is cut at random by up to a quarter, so
// that the many clients of a server do not come back together. Pure.
class DoublingPause {
 public:
  DoublingPause(Duration first, Duration longest) : first_(first), longest_(longest) {}

  Duration Next(SplitMix& random) {
    pause_ = std::clamp(2 * pause_, first_, longest_);
    const auto quarter = static_cast<double>((pause_ / 4).count());
    return pause_ - Duration(static_cast<Duration::rep>(random.Unit() * quarter));
  }
  void Reset() { pause_ = Duration::zero(); }
  // The last pause, uncut; zero after Reset.
  Duration last() const { return pause_; }
  Duration first() const { return first_; }
  Duration longest() const { return longest_; }

 private:
  Duration first_;
  Duration longest_;
  Duration pause_ = Duration::zero();
};

}  // namespace farcall

#endif  // FARCALL_RPC_CLUSTER_BALANCE_DOUBLING_PAUSE_H_
