// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CLUSTER_BALANCE_MOVING_MEAN_H_
#define FARCALL_RPC_CLUSTER_BALANCE_MOVING_MEAN_H_

#include <cstdint>

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

}  // namespace farcall

#endif  // FARCALL_RPC_CLUSTER_BALANCE_MOVING_MEAN_H_
