// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_STATS_LATENCY_BUCKETS_H_
#define FARCALL_RPC_STATS_LATENCY_BUCKETS_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "transport/base/time.h"

namespace farcall {

// Where a latency is counted: 16 buckets between each power of two and the next, so a bucket is 3
// to 6 % wide. Below 1.024 us they are 64 ns wide; what is above 68 s counts as that.
class LatencyBuckets {
 public:
  static constexpr int kUnitBits = 6;  // 64 ns
  static constexpr int kPartBits = 4;  // 16 to an octave
  static constexpr int kValueBits = 30;
  static constexpr size_t kCount = size_t{kValueBits - kPartBits + 1} << kPartBits;

  // How many latencies fell into each bucket.
  using Counts = std::array<uint64_t, kCount>;

  static constexpr size_t Of(Duration latency) {
    const int64_t nanoseconds = std::chrono::nanoseconds(latency).count();
    if (nanoseconds <= 0) return 0;
    const uint64_t units = static_cast<uint64_t>(nanoseconds) >> kUnitBits;
    if (units < kParts) return units;
    const int bits = std::bit_width(units);
    if (bits > kValueBits) return kCount - 1;
    const int shift = bits - 1 - kPartBits;
    return (static_cast<size_t>(shift) << kPartBits) + (units >> shift);
  }
  // The shortest latency that is beyond the bucket.
  static constexpr Duration End(size_t bucket) { return Begin(bucket + 1); }
  static constexpr Duration Begin(size_t bucket) {
    if (bucket < kParts) return std::chrono::nanoseconds(bucket << kUnitBits);
    const size_t shift = (bucket >> kPartBits) - 1;
    const uint64_t units = ((bucket & (kParts - 1)) + kParts) << shift;
    return std::chrono::nanoseconds(units << kUnitBits);
  }

  static uint64_t Total(const Counts& counts);
  // The latency below which the share `q`, 0 to 1, of those counted lies, to half a bucket. 0
  // where nothing was counted.
  static Duration Quantile(const Counts& counts, double q);

 private:
  static constexpr uint64_t kParts = uint64_t{1} << kPartBits;
};

}  // namespace farcall

#endif  // FARCALL_RPC_STATS_LATENCY_BUCKETS_H_
