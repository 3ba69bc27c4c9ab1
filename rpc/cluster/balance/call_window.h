// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CLUSTER_BALANCE_CALL_WINDOW_H_
#define FARCALL_RPC_CLUSTER_BALANCE_CALL_WINDOW_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace farcall {

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

}  // namespace farcall

#endif  // FARCALL_RPC_CLUSTER_BALANCE_CALL_WINDOW_H_
