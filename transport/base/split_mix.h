// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BASE_SPLIT_MIX_H_
#define FARCALL_TRANSPORT_BASE_SPLIT_MIX_H_

#include <cstdint>

namespace farcall {

// Random numbers from a seed: splitmix64, whose every state is good. Not for secrets. Pure.
class SplitMix {
 public:
  explicit SplitMix(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  // 0 to `end` - 1; `end` > 0. Its bias, end / 2^32, is of no account here.
  uint32_t Below(uint32_t end) { return static_cast<uint32_t>(((Next() >> 32) * end) >> 32); }
  // 0 to 1, without 1.
  double Unit() { return ToUnit(Next()); }
  static double ToUnit(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_SPLIT_MIX_H_
