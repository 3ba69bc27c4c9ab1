// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_DISPATCH_CONCURRENCY_LIMIT_H_
#define FARCALL_RPC_DISPATCH_CONCURRENCY_LIMIT_H_

#include <atomic>
#include <mutex>

#include "rpc/dispatch/adaptive_limit.h"
#include "rpc/server_options.h"
#include "transport/base/time.h"

namespace farcall {

// How many calls of a server or of a method may be under way at once. Any thread. Costs one load
// where there is no limit.
class ConcurrencyLimit {
 public:
  // What became of a call that wanted to begin.
  enum class Entry : unsigned char {
    kRefused,
    kFree,     // there was no limit
    kCounted,  // it is one of those under way, until End
  };

  // Counts from now on; calls that began without a limit are not counted.
  void Set(MaxConcurrency max);
  MaxConcurrency setting() const { return setting_.load(std::memory_order_relaxed); }
  // As it is now; 0: none.
  int limit() const { return limit_.load(std::memory_order_relaxed); }
  // Those that are counted.
  int count() const { return count_.load(std::memory_order_relaxed); }

  Entry Begin() { return limit() == 0 ? Entry::kFree : BeginCounted(); }
  // Takes Begin back.
  void Revoke(Entry entry) {
    if (entry == Entry::kCounted) count_.fetch_sub(1, std::memory_order_relaxed);
  }
  // Of a call that was not refused: `error_code` 0 is success.
  void End(Entry entry, int error_code, Duration latency, TimePoint now) {
    if (entry == Entry::kCounted) EndCounted(error_code, latency, now);
  }

 private:
  Entry BeginCounted();
  void EndCounted(int error_code, Duration latency, TimePoint now);

  std::atomic<MaxConcurrency> setting_{MaxConcurrency(0)};
  std::atomic<int> limit_{0};
  std::atomic<int> count_{0};
  std::mutex mutex_;
  AdaptiveLimit adaptive_;  // guarded by mutex_; in use while the setting is Auto
};

}  // namespace farcall

#endif  // FARCALL_RPC_DISPATCH_CONCURRENCY_LIMIT_H_
