// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_COPY_TALLY_H_
#define FARCALL_TRANSPORT_COPY_TALLY_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "transport/base/threads/thread_slot.h"
#include "transport/copied_bytes.h"

namespace farcall {

// Adds up what all connections and calls of a runtime copied. Any thread; threads add to lines
// of their own, so that the loops do not meet.
class CopyTally {
 public:
  void Add(CopyCause cause, uint64_t bytes) {
    lines_[ThreadSlot() % kLines].bytes[static_cast<size_t>(cause)].fetch_add(
        bytes, std::memory_order_relaxed);
  }
  // Not of one moment; no number ever falls.
  CopiedBytes Sum() const {
    CopiedBytes sum;
    for (const Line& line : lines_) {
      for (size_t i = 0; i < kCopyCauses; ++i) {
        sum.by_cause[i] += line.bytes[i].load(std::memory_order_relaxed);
      }
    }
    return sum;
  }

 private:
  static constexpr size_t kLines = 16;
  struct alignas(64) Line {
    std::array<std::atomic<uint64_t>, kCopyCauses> bytes{};
  };

  std::array<Line, kLines> lines_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_COPY_TALLY_H_
