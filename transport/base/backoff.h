// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BASE_BACKOFF_H_
#define FARCALL_TRANSPORT_BASE_BACKOFF_H_

#include <algorithm>
#include <cstdint>

#include "transport/base/time.h"

namespace farcall {

// Pauses between attempts, doubling from `first` to `longest`; each is cut at random by up
// to a half, so that many clients of one server do not come back together. Pure.
class Backoff {
 public:
  Backoff(Duration first, Duration longest, uint64_t random)
      : first_(first), longest_(longest), random_(random) {}

  Duration Next() {
    pause_ = std::clamp(2 * pause_, first_, longest_);
    // splitmix64: few bits, well mixed, from any seed.
    random_ += 0x9e3779b97f4a7c15ULL;
    uint64_t z = random_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    z ^= z >> 31;
    const auto half = static_cast<uint64_t>((pause_ / 2).count());
    return pause_ - Duration(static_cast<Duration::rep>(half == 0 ? 0 : z % (half + 1)));
  }
  void Reset() { pause_ = Duration::zero(); }
  // The last pause, whole.
  Duration pause() const { return pause_; }

 private:
  const Duration first_;
  const Duration longest_;
  uint64_t random_;
  Duration pause_ = Duration::zero();
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_BACKOFF_H_
