// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_CARRIER_DRAIN_MARK_H_
#define FARCALL_TRANSPORT_CARRIER_DRAIN_MARK_H_

#include <cstddef>
#include <utility>

namespace farcall {

// When OnDrained of a connection's handler is due: its backlog was above
// ConnectionOptions::high_water, and has come down to low_water. Pure.
class DrainMark {
 public:
  // Bytes were queued, and so many wait now.
  void OnQueued(size_t backlog, size_t high_water) {
    if (backlog <= high_water) return;
    above_high_ = true;
    due_ = false;
  }
  // Bytes may have left, and so many wait still. True: OnDrained has become due.
  bool OnLeft(size_t backlog, size_t low_water) {
    if (!above_high_ || backlog > low_water) return false;
    above_high_ = false;
    due_ = true;
    return true;
  }
  bool due() const { return due_; }
  // True: OnDrained is to be called, now.
  bool Take() { return std::exchange(due_, false); }

 private:
  bool above_high_ = false;  // and not low since
  bool due_ = false;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_CARRIER_DRAIN_MARK_H_
