// SPDX-License-Identifier: Apache-2.0

#include "rpc/dispatch/concurrency_limit.h"

#include "rpc/errors.h"

namespace farcall {

void ConcurrencyLimit::Set(MaxConcurrency max) {
  std::lock_guard<std::mutex> lock(mutex_);
  setting_ = max;
  adaptive_ = AdaptiveLimit();
  limit_ = max.is_auto() ? adaptive_.limit() : max.number();
}

ConcurrencyLimit::Entry ConcurrencyLimit::BeginCounted() {
  const int limit = limit_.load(std::memory_order_relaxed);
  if (limit == 0) return Entry::kFree;
  int count = count_.load(std::memory_order_relaxed);
  do {
    if (count >= limit) return Entry::kRefused;
  } while (!count_.compare_exchange_weak(count, count + 1, std::memory_order_relaxed));
  return Entry::kCounted;
}

void ConcurrencyLimit::EndCounted(int error_code, Duration latency, TimePoint now) {
  const int under_way = count_.fetch_sub(1, std::memory_order_relaxed);
  if (!setting().is_auto()) return;
  // A sample that meets another one may be lost: there are plenty.
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || !setting().is_auto()) return;
  // Only what is too late tells of load: services fail calls for reasons of their own.
  adaptive_.OnEnd(error_code != kRpcTimedOut, latency, under_way, now);
  limit_.store(adaptive_.limit(), std::memory_order_relaxed);
}

}  // namespace farcall
