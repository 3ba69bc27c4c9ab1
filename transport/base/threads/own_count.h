// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BASE_THREADS_OWN_COUNT_H_
#define FARCALL_TRANSPORT_BASE_THREADS_OWN_COUNT_H_

#include <atomic>
#include <cstdint>

namespace farcall {

// A number that one thread at a time changes and any thread reads. To count costs what it costs
// with a plain integer: no locked instruction.
class OwnCount {
 public:
  void Add(uint64_t more) { Set(value() + more); }
  void Set(uint64_t value) { value_.store(value, std::memory_order_relaxed); }
  uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_THREADS_OWN_COUNT_H_
