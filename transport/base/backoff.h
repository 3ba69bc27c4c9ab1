// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BASE_BACKOFF_H_
#define FARCALL_TRANSPORT_BASE_BACKOFF_H_

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "transport/base/split_mix.h"
#include "transport/base/time.h"

namespace farcall {

// Pauses between attempts, doubling from `first` to `longest`. They can be cut at random, so that
// many clients of one server do not come back together. Pure.
class Backoff {
 public:
  Backoff(Duration first, Duration longest, uint64_t random = 0)
      : first_(first), longest_(longest), random_(random) {}

  // Of who waits for memory that others give back.
  static Backoff ForMemory() {
    return {std::chrono::milliseconds(1), std::chrono::milliseconds(64)};
  }

  Duration NextUncut() { return pause_ = std::clamp(2 * pause_, first_, longest_); }
  // Cut by up to a half.
  Duration Next() { return Cut(NextUncut(), 2, random_); }
  // Cut by up to a quarter, by numbers that several share.
  Duration Next(SplitMix& random) { return Cut(NextUncut(), 4, random); }
  void Reset() { pause_ = Duration::zero(); }
  // The last pause, uncut; zero after Reset.
  Duration pause() const { return pause_; }
  Duration first() const { return first_; }
  Duration longest() const { return longest_; }

 private:
  static Duration Cut(Duration pause, int part, SplitMix& random) {
    const auto most = static_cast<uint64_t>((pause / part).count());
    return pause - Duration(static_cast<Duration::rep>(random.Next() % (most + 1)));
  }

  Duration first_;
  Duration longest_;
  SplitMix random_;
  Duration pause_ = Duration::zero();
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_BACKOFF_H_
