// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_DISPATCH_METHOD_PACE_H_
#define FARCALL_RPC_DISPATCH_METHOD_PACE_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

#include "transport/base/time.h"

namespace farcall {

// Whether the handler of a method runs where its requests are read, or on the handler threads:
// there it goes after two of a few calls ran for so long that their loop needed another driver,
// until it has proved quick again. Any thread.
class MethodPace {
 public:
  // So few calls run at most between two that ran for long.
  static constexpr uint64_t kFewCalls = 32;
  // What a handler thread may take for a call that counts as quick; so many in a row prove it. Each
  // time that the proof was false it takes twice as many, up to kMaxProof; kForgiven calls without
  // one that ran for long, and all is forgotten.
  static constexpr Duration kQuick = std::chrono::microseconds(500);
  static constexpr uint64_t kProof = 16;
  static constexpr uint64_t kMaxProof = 16'384;
  static constexpr uint64_t kForgiven = 100'000;

  bool on_pool() const { return on_pool_.load(std::memory_order_relaxed); }

  // A call ran for long where it was read. `ran`: calls of the method so far whose handler has run.
  // Those that wait for their turn, or were refused before, tell nothing of its pace.
  void OnLong(uint64_t ran) {
    std::lock_guard<std::mutex> lock(mutex_);
    const bool first = !last_long_.has_value();
    // One that did not run may have been counted as one that did, for a moment.
    const uint64_t since = ran - std::min(ran, last_long_.value_or(0));
    last_long_ = ran;
    if (since > kForgiven) proof_ = kProof;
    if (on_pool() || first || since > kFewCalls) return;
    quick_ = 0;
    on_pool_.store(true, std::memory_order_relaxed);
  }
  // A handler has run on a handler thread.
  void OnPoolCall(Duration took) {
    std::lock_guard<std::mutex> lock(mutex_);
    quick_ = took <= kQuick ? quick_ + 1 : 0;
    if (!on_pool() || quick_ < proof_) return;
    proof_ = std::min(2 * proof_, kMaxProof);
    on_pool_.store(false, std::memory_order_relaxed);
  }

 private:
  std::atomic<bool> on_pool_{false};
  std::mutex mutex_;
  // Guarded by mutex_.
  std::optional<uint64_t> last_long_;  // calls that had run then
  uint64_t quick_ = 0;                 // in a row, on the pool
  uint64_t proof_ = kProof;
};

}  // namespace farcall

#endif  // FARCALL_RPC_DISPATCH_METHOD_PACE_H_
