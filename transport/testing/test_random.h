// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TESTING_TEST_RANDOM_H_
#define FARCALL_TRANSPORT_TESTING_TEST_RANDOM_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "transport/base/split_mix.h"

namespace farcall {

// Numbers that follow from a seed, the same on every platform: what a failed run
// did can be done again. One thread at a time.
class TestRandom {
 public:
  explicit TestRandom(uint64_t seed) : random_(seed) {}

  uint64_t Next() { return random_.Next(); }
  // 0 to `end` - 1; `end` > 0.
  uint64_t Below(uint64_t end) { return Next() % end; }
  // 1 to `most`, each order of magnitude as likely as the others.
  size_t Size(size_t most) {
    size_t bits = 0;
    while (most >> (bits + 1) != 0) ++bits;
    const size_t below = size_t{2} << Below(bits + 1);
    return static_cast<size_t>(1 + Below(below < most ? below : most));
  }
  // True in `part` of all cases, 0 to 1.
  bool Chance(double part) { return static_cast<double>(Next() >> 11) < part * 9007199254740992.0; }
  template <typename Values>
  void Shuffle(Values& values) {
    for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[Below(i)]);
  }

 private:
  SplitMix random_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TESTING_TEST_RANDOM_H_
